/** Dialogs that make a webhook, or change the receiver, filter or events of an existing one. */
import { useState } from 'preact/hooks';
import { act, Dialog, hrefOf, navigate } from '../kit.ts';
import { useAction } from './use-action.ts';
import { type Body, type WebhookBefore, WebhookForm } from './webhook-form.tsx';
import { WebhookSecret } from './webhook-secret.tsx';

interface NewWebhookProps {
  readonly onMade: () => void;
  readonly onClose: () => void;
}

export function NewWebhook({ onMade, onClose }: NewWebhookProps) {
  const [made, setMade] = useState<{ readonly id: string; readonly secret: string } | null>(null);
  const { trouble, run } = useAction(onMade);
  const create = async (body: Body) => {
    const outcome = await run(() => act((client) => client.POST('/api/webhooks', { body })));
    if (outcome?.data) setMade({ id: outcome.data.id, secret: outcome.data.secret ?? '' });
  };
  const leave = () => {
    onClose();
    if (made) navigate(hrefOf('webhook', { id: made.id }));
  };
  return (
    <Dialog title="New webhook" onClose={leave}>
      {(close) =>
        made ? (
          <WebhookSecret secret={made.secret} close={close} />
        ) : (
          <WebhookForm
            action="Make it"
            trouble={trouble}
            troubleTitle="No webhook was made"
            send={create}
            close={close}
          />
        )
      }
    </Dialog>
  );
}

interface ChangedWebhookProps {
  readonly before: WebhookBefore;
  readonly onDone: () => void;
  readonly onClose: () => void;
}

export function ChangedWebhook({ before, onDone, onClose }: ChangedWebhookProps) {
  const { trouble, run } = useAction(onDone);
  const params = { path: { id: before.id } };
  const change = async (body: Body, close: () => void) => {
    const outcome = await run(() => act((client) => client.PATCH('/api/webhooks/{id}', { params, body })));
    if (outcome?.data) close();
  };
  return (
    <Dialog title="Change the webhook" onClose={onClose}>
      {(close) => (
        <WebhookForm
          before={before}
          action="Change it"
          trouble={trouble}
          troubleTitle="The webhook was not changed"
          send={(body) => void change(body, close)}
          close={close}
        />
      )}
    </Dialog>
  );
}
