/** Shows a secret the only time it can be shown, and how to use it without leaving it in a file or a shell history. */
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { Copy } from '../kit.ts';

interface IssuedSecretProps {
  /** The word for the secret. */
  readonly noun: 'key' | 'secret';
  readonly secret: string;
  /** The purpose of the secret, and what the service keeps of it. */
  readonly about: string;
  /** The environment variable from which programs read the secret. */
  readonly variable: string;
  /** The programs that read it, as the subject of "… it from". */
  readonly readBy: string;
  readonly close: () => void;
  /** Lines that use the secret. */
  readonly children?: ComponentChildren;
}

export function IssuedSecret({ noun, secret, about, variable, readBy, close, children }: IssuedSecretProps) {
  const first = useRef<HTMLParagraphElement>(null);
  useLayoutEffect(() => first.current?.focus(), []);
  return (
    <div class="issued">
      <p ref={first} tabIndex={-1}>
        <strong>Copy the {noun} now.</strong> {about}
      </p>
      <div class="row">
        <code class="secret" data-testid="secret">
          {secret}
        </code>
        <Copy label={`Copy ${noun}`} text={secret} />
      </div>
      <p class="note">
        {readBy} it from <code>{variable}</code>. In a shell, <code>read -rs {variable}</code> takes it without a trace
        in the history; then <code>export {variable}</code>.
      </p>
      {children}
      <p class="actions">
        <button type="button" class="main-action" onClick={close}>
          I have it
        </button>
      </p>
    </div>
  );
}
