/** A secret at the only moment at which it is shown, and how to use it without leaving it in a file or a history. */
import { useEffect, useRef } from 'preact/hooks';
import { Copy } from '../kit.ts';

/** Costs nothing worth mentioning, and says whether the key works. */
const TRIAL = '/api/usage/now';

export function IssuedKey({ secret, close }: { readonly secret: string; readonly close: () => void }) {
  const first = useRef<HTMLParagraphElement>(null);
  useEffect(() => first.current?.focus(), []);
  const { origin } = location;
  const curl = `curl -H "Authorization: Bearer $VERUSTREAM_KEY" '${origin}${TRIAL}'`;
  const client = `createVerustreamClient({ baseUrl: '${origin}', key: process.env.VERUSTREAM_KEY })`;
  return (
    <div class="issued">
      <p ref={first} tabIndex={-1}>
        <strong>Copy the key now.</strong> It is shown this once: the service keeps its digest alone.
      </p>
      <div class="row">
        <code class="secret" data-testid="secret">
          {secret}
        </code>
        <Copy label="Copy key" text={secret} />
      </div>
      <p class="note">
        The lines below read it from <code>VERUSTREAM_KEY</code>. In a shell, <code>read -rs VERUSTREAM_KEY</code> takes
        it without a trace in the history; then <code>export VERUSTREAM_KEY</code>.
      </p>
      <Line label="curl" text={curl} />
      <Line label="client" text={client} />
      <p class="actions">
        <button type="button" class="main-action" onClick={close}>
          I have it
        </button>
      </p>
    </div>
  );
}

function Line({ label, text }: { readonly label: string; readonly text: string }) {
  return (
    <div class="row">
      <code class="line">{text}</code>
      <Copy label={`Copy ${label}`} text={text} />
    </div>
  );
}
