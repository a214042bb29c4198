/** A new key, with a curl command and a client call that use it. */
import { Copy } from '../kit.ts';
import { IssuedSecret } from './issued-secret.tsx';

/** A cheap request that shows whether the key works. */
const TRIAL = '/api/usage/now';
const ABOUT = 'It is shown only once: the service keeps only its digest.';

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
