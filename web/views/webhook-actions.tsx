/** Actions on a webhook: test, change, pause, rotate the secret, delete. */
import { useState } from 'preact/hooks';
import { Alert, act, Dialog, handleSubmit, hrefOf, navigate } from '../kit.ts';
import { DialogButtons } from './dialog-buttons.tsx';
import { useAction } from './use-action.ts';
import { ChangedWebhook } from './webhook-dialogs.tsx';
import type { WebhookBefore } from './webhook-form.tsx';
import { WebhookSecret } from './webhook-secret.tsx';

interface ActionsProps {
  readonly webhook: WebhookBefore;
  readonly onChange: () => void;
}

export function WebhookActions({ webhook, onChange }: ActionsProps) {
  const { id, enabled: isEnabled } = webhook;
  const [asked, setAsked] = useState<'change' | 'secret' | 'delete' | null>(null);
  const { trouble, run } = useAction(onChange);
  const params = { path: { id } };
  const test = () => act((client) => client.POST('/api/webhooks/{id}/test', { params }));
  const pause = () => act((client) => client.PATCH('/api/webhooks/{id}', { params, body: { enabled: !isEnabled } }));
  const onClose = () => setAsked(null);
  return (
    <>
      <p class="actions">
        <button type="button" class="main-action" onClick={() => run(test)}>
          Send a test
        </button>
        <button type="button" onClick={() => setAsked('change')}>
          Change
        </button>
        <button type="button" onClick={() => run(pause)}>
          {isEnabled ? 'Pause' : 'Go on'}
        </button>
        <button type="button" onClick={() => setAsked('secret')}>
          New secret
        </button>
        <button type="button" onClick={() => setAsked('delete')}>
          Delete
        </button>
      </p>
      {trouble && <Alert trouble={trouble} title="It was not done" />}
      {asked === 'change' && <ChangedWebhook before={webhook} onDone={onChange} onClose={onClose} />}
      {asked === 'secret' && <NewSecret id={id} onDone={onChange} onClose={onClose} />}
      {asked === 'delete' && <Delete id={id} onClose={onClose} />}
    </>
  );
}

interface DialogProps {
  readonly id: string;
  readonly onClose: () => void;
}

function NewSecret({ id, onDone, onClose }: DialogProps & { readonly onDone: () => void }) {
  const [secret, setSecret] = useState<string | null>(null);
  const { trouble, run } = useAction(onDone);
  const rotate = async () => {
    const params = { path: { id } };
    const outcome = await run(() =>
      act((client) => client.PATCH('/api/webhooks/{id}', { params, body: { rotateSecret: true } })),
    );
    if (outcome?.data) setSecret(outcome.data.secret);
  };
  return (
    <Dialog title="New secret" onClose={onClose}>
      {(close) =>
        secret === null ? (
          <form onSubmit={handleSubmit(() => void rotate())}>
            <p>For 24 hours each message is signed with both secrets. After that, only the new secret is used.</p>
            {trouble && <Alert trouble={trouble} title="It has its old secret" />}
            <DialogButtons action="Make a new secret" close={close} />
          </form>
        ) : (
          <WebhookSecret secret={secret} close={close} />
        )
      }
    </Dialog>
  );
}

function Delete({ id, onClose }: DialogProps) {
  const { trouble, run } = useAction(() => navigate(hrefOf('webhooks', {})));
  const params = { path: { id } };
  return (
    <Dialog title="Delete the webhook" onClose={onClose}>
      {(close) => (
        <form
          onSubmit={handleSubmit(
            () => void run(() => act((client) => client.DELETE('/api/webhooks/{id}', { params }))),
          )}
        >
          <p>Its deliveries are deleted too, including pending ones. This cannot be undone.</p>
          {trouble && <Alert trouble={trouble} title="It was not deleted" />}
          <DialogButtons action="Delete it" close={close} />
        </form>
      )}
    </Dialog>
  );
}
