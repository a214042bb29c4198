/** The new secret of a webhook, which its receiver reads. */
import { IssuedSecret } from './issued-secret.tsx';

const ABOUT = 'It is shown only once. Your receiver uses it to verify the sender of a message.';
const READ_BY = 'The receiver below the deliveries reads';

export function WebhookSecret({ secret, close }: { readonly secret: string; readonly close: () => void }) {
  const wording = { noun: 'secret', about: ABOUT, variable: 'WEBHOOK_SECRET', readBy: READ_BY } as const;
  return <IssuedSecret {...wording} secret={secret} close={close} />;
}
