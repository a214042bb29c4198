/** The form of a new webhook: every kind of event and every filter that the API takes, by its types. */
import { useState } from 'preact/hooks';
import { Alert, act, type BodyOf, chainNames, Dialog, hrefOf, navigate, type Trouble } from '../kit.ts';
import { WebhookSecret } from './webhook-secret.tsx';
import { type Row, Thresholds, thresholdsOf } from './webhook-thresholds.tsx';

type Body = BodyOf<'/api/webhooks'>;
export type Kind = Body['events'][number];
type FilterName = keyof NonNullable<Body['filter']>;

/** The types of the client make this complete. */
const KINDS: Readonly<Record<Kind, string>> = {
  block: 'a block was indexed',
  reorg: 'blocks were removed',
  'address.activity': 'a transaction touched an address of the filter',
  'identity.updated': 'an identity was registered or changed',
  'conversion.completed': 'a conversion was paid out',
  'price.threshold': 'a price crossed a threshold',
};

interface Control {
  readonly label: string;
  readonly help: string;
  /** One value, not several. */
  readonly isDecimal?: boolean;
}

const FILTERS: Readonly<Record<FilterName, Control>> = {
  currency: { label: 'Currencies', help: 'Names or i-addresses' },
  basket: { label: 'Baskets', help: 'Names or i-addresses' },
  identity: { label: 'Identities', help: 'Names with @, or i-addresses' },
  address: { label: 'Addresses', help: 'Needed for address.activity' },
  minUsd: { label: 'Least USD value', help: 'Of conversions; sent once the value is known', isDecimal: true },
};

const kinds = Object.keys(KINDS) as Kind[];
const filters = Object.keys(FILTERS) as FilterName[];

/** Separated by commas or lines; one is sent as one. */
function namesIn(text: string): string | string[] | undefined {
  const names = text
    .split(/[,\n]/)
    .map((name) => name.trim())
    .filter((name) => name !== '');
  return names.length > 1 ? names : names[0];
}

function bodyOf(form: HTMLFormElement, thresholds: readonly Row[]): Body {
  const given = new FormData(form);
  const text = (name: string) => String(given.get(name) ?? '').trim();
  const filter = Object.fromEntries(
    filters.flatMap((name) => {
      const value = FILTERS[name].isDecimal ? text(name) || undefined : namesIn(text(name));
      return value === undefined ? [] : [[name, value]];
    }),
  );
  const events = given.getAll('events') as Kind[];
  const chains = given.getAll('chains').map(String);
  return {
    url: text('url'),
    events,
    ...(text('description') !== '' && { description: text('description') }),
    ...(chains.length > 0 && { chains }),
    ...(Object.keys(filter).length > 0 && { filter }),
    ...(events.includes('price.threshold') && { thresholds: thresholdsOf(thresholds) }),
    ...(text('confirmations') !== '' && { confirmations: Number(text('confirmations')) }),
  } as Body;
}

interface NewWebhookProps {
  readonly onMade: () => void;
  readonly onClose: () => void;
}

export function NewWebhook({ onMade, onClose }: NewWebhookProps) {
  const [made, setMade] = useState<{ readonly id: string; readonly secret: string } | null>(null);
  const [trouble, setTrouble] = useState<Trouble | null>(null);
  const [isBusy, setBusy] = useState(false);
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const [thresholds, setThresholds] = useState<readonly Row[]>([{ id: 1, currency: '', usd: '', direction: 'both' }]);
  const create = async (form: HTMLFormElement) => {
    if (isBusy || made) return;
    setBusy(true);
    const { data, trouble: refused } = await act((client) =>
      client.POST('/api/webhooks', { body: bodyOf(form, thresholds) }),
    );
    setBusy(false);
    setTrouble(refused);
    if (data === null) return;
    setMade({ id: data.id, secret: data.secret ?? '' });
    onMade();
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
          <form
            class="webhook"
            onSubmit={(event) => {
              event.preventDefault();
              void create(event.currentTarget);
            }}
          >
            <Receiver />
            <Kinds onChange={setChosen} />
            {chosen.includes('price.threshold') && <Thresholds rows={thresholds} onChange={setThresholds} />}
            <Filters wrong={trouble?.parameters ?? []} />
            {trouble && <Alert trouble={trouble} title="No webhook was made" />}
            <p class="actions">
              <button type="submit" class="main-action">
                Make it
              </button>
              <button type="button" onClick={close}>
                Cancel
              </button>
            </p>
          </form>
        )
      }
    </Dialog>
  );
}

function Receiver() {
  return (
    <div class="filters">
      <div>
        <label for="webhook-url">Receiver</label>
        <input
          id="webhook-url"
          name="url"
          type="text"
          inputMode="url"
          required
          maxLength={2_048}
          placeholder="https://bot.example/hooks"
          autocomplete="off"
          spellcheck={false}
        />
      </div>
      <div>
        <label for="webhook-description">Description</label>
        <input id="webhook-description" name="description" type="text" maxLength={200} autocomplete="off" />
      </div>
    </div>
  );
}

function Kinds({ onChange }: { readonly onChange: (chosen: readonly string[]) => void }) {
  const read = (field: HTMLFieldSetElement) =>
    onChange([...field.querySelectorAll<HTMLInputElement>('input:checked')].map(({ value }) => value));
  return (
    <fieldset onChange={({ currentTarget }) => read(currentTarget)}>
      <legend>Send a message when</legend>
      {kinds.map((kind) => (
        <label key={kind}>
          <input type="checkbox" name="events" value={kind} /> <code>{kind}</code> {KINDS[kind]}
        </label>
      ))}
    </fieldset>
  );
}

function Filters({ wrong }: { readonly wrong: readonly string[] }) {
  return (
    <fieldset>
      <legend>Only what fits</legend>
      <div class="filters">
        {filters.map((name) => (
          <div key={name}>
            <label for={`webhook-${name}`}>{FILTERS[name].label}</label>
            <input
              id={`webhook-${name}`}
              name={name}
              type="text"
              placeholder={FILTERS[name].help}
              title={FILTERS[name].isDecimal ? FILTERS[name].help : `${FILTERS[name].help}, separated by commas`}
              aria-invalid={wrong.includes(`filter/${name}`)}
              autocomplete="off"
              spellcheck={false}
            />
          </div>
        ))}
        <div>
          <label for="webhook-confirmations">Confirmations</label>
          <input
            id="webhook-confirmations"
            name="confirmations"
            type="number"
            min={0}
            max={100}
            step={1}
            placeholder="0"
          />
        </div>
      </div>
      <div class="chains">
        Chains (none chosen: all)
        {chainNames.map((chain) => (
          <label key={chain}>
            <input type="checkbox" name="chains" value={chain} /> {chain}
          </label>
        ))}
      </div>
    </fieldset>
  );
}
