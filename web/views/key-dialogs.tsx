/** Dialogs that make a key, replace its secret, and revoke it. */
import { useState } from 'preact/hooks';
import { Alert, type AnswerOf, act, Dialog, handleSubmit, inertText, shownNumber, Text } from '../kit.ts';
import { DialogButtons } from './dialog-buttons.tsx';
import { IssuedKey } from './issued-key.tsx';
import { useAction } from './use-action.ts';

export type Key = AnswerOf<'/api/keys'>['keys'][number];

interface NewKeyProps {
  /** Credits of the tier; null when unknown. */
  readonly most: string | null;
  readonly onMade: () => void;
  readonly onClose: () => void;
}

export function NewKey({ most, onMade, onClose }: NewKeyProps) {
  const [secret, setSecret] = useState<string | null>(null);
  const { trouble, run } = useAction(onMade);
  const create = async (form: HTMLFormElement) => {
    const given = new FormData(form);
    const credits = String(given.get('creditsPerMinute') ?? '').trim();
    const body = {
      name: String(given.get('name') ?? '').trim(),
      ...(credits !== '' && { creditsPerMinute: Number(credits) }),
    };
    const outcome = await run(() => act((client) => client.POST('/api/keys', { body })));
    if (outcome?.data) setSecret(outcome.data.key);
  };
  return (
    <Dialog title="New key" onClose={onClose}>
      {(close) =>
        secret !== null ? (
          <IssuedKey secret={secret} close={close} />
        ) : (
          <form onSubmit={handleSubmit((form) => void create(form))}>
            <div class="filters">
              <div>
                <label for="key-name">Name</label>
                <input
                  id="key-name"
                  name="name"
                  type="text"
                  required
                  maxLength={64}
                  pattern=".*\S.*"
                  placeholder="What it is for, such as bot"
                  autocomplete="off"
                />
              </div>
              <div>
                <label for="key-credits">Credits a minute of its own</label>
                <input
                  id="key-credits"
                  name="creditsPerMinute"
                  type="number"
                  inputMode="numeric"
                  min={1}
                  max={most ?? undefined}
                  step={1}
                  placeholder="none"
                  aria-describedby="key-credits-help"
                  autocomplete="off"
                />
              </div>
            </div>
            <p class="note" id="key-credits-help">
              Left empty, it may use all credits of the identity. With a number, both limits apply: if the key leaks or
              its program runs away, the rest of the credits stays for the other keys.
              {most !== null && ` At most ${shownNumber(String(most), 'integer')}, as the tier has.`}
            </p>
            {trouble && <Alert trouble={trouble} title="No key was made" />}
            <DialogButtons action="Make it" close={close} />
          </form>
        )
      }
    </Dialog>
  );
}

interface ChangeProps {
  readonly of: Key;
  readonly onClose: () => void;
}

/** Replaces the secret of a key and changes nothing else. */
export function NewSecret({ of, onMade, onClose }: ChangeProps & { readonly onMade: () => void }) {
  const [secret, setSecret] = useState<string | null>(null);
  const { trouble, run } = useAction(onMade);
  const regenerate = async () => {
    const params = { path: { id: of.id } };
    const outcome = await run(() => act((client) => client.POST('/api/keys/{id}/regenerate', { params })));
    if (outcome?.data) setSecret(outcome.data.key);
  };
  return (
    <Dialog title={`New secret for ${inertText(of.name)}`} onClose={onClose}>
      {(close) =>
        secret !== null ? (
          <IssuedKey secret={secret} close={close} />
        ) : (
          <form onSubmit={handleSubmit(() => void regenerate())}>
            <p>
              The old secret of <Text text={of.name} isName /> stops working at once. Id, name and credits stay.
            </p>
            {trouble && <Alert trouble={trouble} title="It has its old secret" />}
            <DialogButtons action="Make a new secret" close={close} />
          </form>
        )
      }
    </Dialog>
  );
}

export function Revoke({ of, onDone, onClose }: ChangeProps & { readonly onDone: () => void }) {
  const { trouble, run } = useAction(() => undefined);
  const revoke = async (close: () => void) => {
    const params = { path: { id: of.id } };
    const outcome = await run(() => act((client) => client.DELETE('/api/keys/{id}', { params })));
    if (outcome?.trouble !== null) return;
    close();
    onDone(); // after the dialog has given back the focus
  };
  return (
    <Dialog title={`Revoke ${inertText(of.name)}`} onClose={onClose}>
      {(close) => (
        <form onSubmit={handleSubmit(() => void revoke(close))}>
          <p>
            Programs that use <Text text={of.name} isName /> are refused at once. A revoked key does not come back.
          </p>
          {trouble && <Alert trouble={trouble} title="It was not revoked" />}
          <DialogButtons action="Revoke" close={close} />
        </form>
      )}
    </Dialog>
  );
}
