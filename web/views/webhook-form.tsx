/** The form of a webhook: every kind of event and every filter that the API takes, checked against its types. */
import { useState } from 'preact/hooks';
import {
  Alert,
  type AnswerOf,
  type BodyOf,
  chainNames,
  handleSubmit,
  listOfNames,
  namesIn,
  type Trouble,
} from '../kit.ts';
import { DialogButtons } from './dialog-buttons.tsx';
import { type Row, rowsOf, Thresholds, thresholdsOf } from './webhook-thresholds.tsx';

export type Body = BodyOf<'/api/webhooks'>;
export type WebhookBefore = AnswerOf<'/api/webhooks/{id}'>;
export type Kind = Body['events'][number];
type FilterName = keyof NonNullable<Body['filter']>;

/** The client's types guarantee that this list is complete. */
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
  /** Whether the filter takes a single value. */
  readonly isDecimal?: boolean;
}

const FILTERS: Readonly<Record<FilterName, Control>> = {
  currency: { label: 'Currencies', help: 'Names or i-addresses' },
  basket: { label: 'Baskets', help: 'Names or i-addresses' },
  identity: { label: 'Identities', help: 'Names with @, or i-addresses' },
  address: { label: 'Addresses', help: 'Needed for address.activity' },
  minUsd: { label: 'Least USD value', help: 'Of conversions, once it is known', isDecimal: true },
};

const kinds = Object.keys(KINDS) as Kind[];
const filters = Object.keys(FILTERS) as FilterName[];

/** A single name is sent as a string, not as an array. */
function filterOf(text: string): string | string[] | undefined {
  const names = namesIn(text);
  return names.length > 1 ? names : names[0];
}

/** Returns all fields, so that the same body works for a new webhook and for a change. */
function bodyOf(form: HTMLFormElement, thresholds: readonly Row[]): Body {
  const given = new FormData(form);
  const text = (name: string) => String(given.get(name) ?? '').trim();
  const filter = Object.fromEntries(
    filters.flatMap((name) => {
      const value = FILTERS[name].isDecimal ? text(name) || undefined : filterOf(text(name));
      return value === undefined ? [] : [[name, value]];
    }),
  );
  const events = given.getAll('events') as Kind[];
  const chains = given.getAll('chains').map(String);
  return {
    url: text('url'),
    events,
    description: text('description'),
    chains: chains.length > 0 ? chains : null,
    filter,
    thresholds: events.includes('price.threshold') ? thresholdsOf(thresholds) : [],
    confirmations: Number(text('confirmations')),
  } as Body;
}

/** The text of a filter in its input. */
const shownFilter = (value: unknown): string => listOfNames([value ?? ''].flat().map(String));

interface WebhookFormProps {
  /** The webhook to change; absent for a new one. */
  readonly before?: WebhookBefore;
  readonly action: string;
  readonly trouble: Trouble | null;
  readonly troubleTitle: string;
  readonly send: (body: Body) => void;
  readonly close: () => void;
}

export function WebhookForm({ before, action, trouble, troubleTitle, send, close }: WebhookFormProps) {
  const [chosen, setChosen] = useState<readonly string[]>(before?.events ?? []);
  const [thresholds, setThresholds] = useState<readonly Row[]>(rowsOf(before?.thresholds ?? []));
  return (
    <form class="webhook" onSubmit={handleSubmit((form) => send(bodyOf(form, thresholds)))}>
      <Receiver url={before?.url} description={before?.description} />
      <Kinds chosen={chosen} onChange={setChosen} />
      {chosen.includes('price.threshold') && <Thresholds rows={thresholds} onChange={setThresholds} />}
      <Filters before={before} wrong={trouble?.parameters ?? []} />
      {trouble && <Alert trouble={trouble} title={troubleTitle} />}
      <DialogButtons action={action} close={close} />
    </form>
  );
}

interface ReceiverProps {
  readonly url: string | undefined;
  readonly description: string | undefined;
}

function Receiver({ url, description }: ReceiverProps) {
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
          defaultValue={url}
          placeholder="https://bot.example/hooks"
          autocomplete="off"
          spellcheck={false}
        />
      </div>
      <div>
        <label for="webhook-description">Description</label>
        <input
          id="webhook-description"
          name="description"
          type="text"
          maxLength={200}
          autocomplete="off"
          defaultValue={description}
        />
      </div>
    </div>
  );
}

interface KindsProps {
  readonly chosen: readonly string[];
  readonly onChange: (chosen: readonly string[]) => void;
}

function Kinds({ chosen, onChange }: KindsProps) {
  const read = (field: HTMLFieldSetElement) =>
    onChange([...field.querySelectorAll<HTMLInputElement>('input:checked')].map(({ value }) => value));
  return (
    <fieldset onChange={({ currentTarget }) => read(currentTarget)}>
      <legend>Send a message when</legend>
      {kinds.map((kind) => (
        <label key={kind}>
          <input type="checkbox" name="events" value={kind} checked={chosen.includes(kind)} /> <code>{kind}</code>{' '}
          {KINDS[kind]}
        </label>
      ))}
    </fieldset>
  );
}

interface FiltersProps {
  readonly before: WebhookBefore | undefined;
  readonly wrong: readonly string[];
}

function Filters({ before, wrong }: FiltersProps) {
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
              title={
                FILTERS[name].isDecimal
                  ? FILTERS[name].help
                  : `${FILTERS[name].help}, separated by commas; in quotation marks if with commas`
              }
              aria-invalid={wrong.includes(`filter/${name}`)}
              defaultValue={shownFilter(before?.filter[name])}
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
            defaultValue={before?.confirmations}
          />
        </div>
      </div>
      <div class="chains">
        Chains (none chosen: all)
        {chainNames.map((chain) => (
          <label key={chain}>
            <input type="checkbox" name="chains" value={chain} defaultChecked={before?.chains?.includes(chain)} />{' '}
            {chain}
          </label>
        ))}
      </div>
    </fieldset>
  );
}
