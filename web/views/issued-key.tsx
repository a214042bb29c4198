/** A new key, with a line of curl and of the client that use it. */
import { Copy } from '../kit.ts';
import { IssuedSecret } from './issued-secret.tsx';

/** Costs nothing worth mentioning, and says whether the key works. */
const TRIAL = '/api/usage/now';
const ABOUT = 'It is shown this once: the service keeps its digest alone.';

export function IssuedKey({ secret, close }: { readonly secret: string; readonly close: () => void }) {
  const { origin } = location;
  const curl = `curl -H "Authorization: Bearer $VERUSTREAM_KEY" '${origin}${TRIAL}'`;
  const client = `createVerustreamClient({ baseUrl: '${origin}', key: process.env.VERUSTREAM_KEY })`;
  const wording = { noun: 'key', about: ABOUT, variable: 'VERUSTREAM_KEY', readBy: 'The lines below read' } as const;
  return (
    <IssuedSecret {...wording} secret={secret} close={close}>
      <Line label="curl" text={curl} />
      <Line label="client" text={client} />
    </IssuedSecret>
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
