/** The secret of a webhook, in the one moment in which it is shown. */
import { useEffect, useRef } from 'preact/hooks';
import { Copy } from '../kit.ts';

interface IssuedProps {
  readonly secret: string;
  readonly close: () => void;
}

export function IssuedSecret({ secret, close }: IssuedProps) {
  const first = useRef<HTMLParagraphElement>(null);
  useEffect(() => first.current?.focus(), []);
  return (
    <div class="issued">
      <p ref={first} tabIndex={-1}>
        <strong>Copy the secret now.</strong> It is shown this once. Your receiver verifies by it who sent a message.
      </p>
      <div class="row">
        <code class="secret" data-testid="secret">
          {secret}
        </code>
        <Copy label="Copy secret" text={secret} />
      </div>
      <p class="note">
        The receiver below the deliveries reads it from <code>WEBHOOK_SECRET</code>. In a shell,{' '}
        <code>read -rs WEBHOOK_SECRET</code> takes it without a trace in the history; then{' '}
        <code>export WEBHOOK_SECRET</code>.
      </p>
      <p class="actions">
        <button type="button" class="main-action" onClick={close}>
          I have it
        </button>
      </p>
    </div>
  );
}
