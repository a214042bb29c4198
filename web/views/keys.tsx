/** API keys of the logged-in identity. */
import { useState } from 'preact/hooks';
import { type Answer, Panel, Table, Value, type ViewProps } from '../kit.ts';
import { type Key, NewKey, NewSecret, Revoke } from './key-dialogs.tsx';

type KeyDialog = { readonly what: 'new' } | { readonly what: 'secret' | 'revoke'; readonly of: Key };

const NEW_BUTTON = 'new-key';

export function View({ answers: [list] }: ViewProps<'keys'>) {
  const [dialog, show] = useState<KeyDialog | null>(null);
  const onClose = () => show(null);
  const changed = () => list.refresh();
  return (
    <>
      <p class="lead">
        A program that uses a key pays from the credits of the identity, and has its tier.{' '}
        <a href="/api/docs">What it may ask for</a>
      </p>
      <p class="actions">
        <button type="button" id={NEW_BUTTON} class="main-action" onClick={() => show({ what: 'new' })}>
          New key
        </button>
      </p>
      <Keys answer={list} onChoose={show} />
      {dialog?.what === 'new' && (
        <NewKey most={list.shown.value?.data.creditsPerMinute ?? null} onMade={changed} onClose={onClose} />
      )}
      {dialog?.what === 'secret' && <NewSecret of={dialog.of} onMade={changed} onClose={onClose} />}
      {dialog?.what === 'revoke' && (
        <Revoke
          of={dialog.of}
          onDone={() => {
            changed();
            document.getElementById(NEW_BUTTON)?.focus(); // the button that opened the dialog disappears with its row
          }}
          onClose={onClose}
        />
      )}
    </>
  );
}

interface KeysProps {
  readonly answer: Answer<'/api/keys'>;
  readonly onChoose: (dialog: KeyDialog) => void;
}

function Keys({ answer, onChoose }: KeysProps) {
  return (
    <Panel title="Keys of the identity" answer={answer} frame="medium">
      {({ keys }) => (
        <>
          <p class="note">
            Tier <Value at="/tier" />: <Value at="/creditsPerMinute" as="integer" /> credits a minute, which its keys
            and sessions share.
          </p>
          <Table
            at="/keys"
            rows={keys}
            caption="Keys"
            empty="There is no key yet. With a key, a program can use the API as this identity."
            columns={[
              { head: 'Name', at: 'name', as: 'name' },
              { head: 'Id', at: 'id', as: 'id' },
              {
                head: 'Credits a minute',
                at: 'creditsPerMinute',
                as: 'integer',
                why: "none of its own: it shares the identity's",
              },
              { head: 'Made', at: 'createdAt', as: 'time' },
              { head: 'New secret', at: 'regeneratedAt', as: 'time', why: 'it has its first secret' },
              { head: 'Last used', at: 'lastUsedAt', as: 'time', why: 'not in the last 400 days' },
              { head: 'Change', isNumber: true, cell: (of) => <Change of={of} onChoose={onChoose} /> },
            ]}
          />
        </>
      )}
    </Panel>
  );
}

function Change({ of, onChoose }: { readonly of: Key; readonly onChoose: (dialog: KeyDialog) => void }) {
  return (
    <span class="actions">
      <button type="button" aria-label={`New secret for ${of.name}`} onClick={() => onChoose({ what: 'secret', of })}>
        New secret
      </button>
      <button type="button" aria-label={`Revoke ${of.name}`} onClick={() => onChoose({ what: 'revoke', of })}>
        Revoke
      </button>
    </span>
  );
}
