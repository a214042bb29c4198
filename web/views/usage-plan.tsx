/** The cost of a plan of calls per minute, and the tiers that it fits into, as the service prices it. */
import { useState } from 'preact/hooks';
import { type ActOutcome, Alert, act, ask, call, handleSubmit, PlainTable, shownNumber } from '../kit.ts';

interface PlannedCall {
  /** Key of the list item. */
  readonly id: number;
  readonly what: string;
  readonly often: string;
  readonly unit: 'perSecond' | 'perMinute';
}

interface Plan {
  readonly calls: readonly {
    readonly method: string;
    readonly path: string;
    readonly rpc: string | null;
    readonly credits: string;
    readonly tier: string | null;
    readonly perMinute: string;
    readonly creditsPerMinute: string;
  }[];
  readonly creditsPerMinute: string;
  readonly requestsPerMinute: string;
  readonly withoutKey: boolean;
  readonly tiers: readonly {
    readonly tier: string;
    readonly creditsPerMinute: string;
    readonly fits: boolean;
    readonly lacks: 'credits' | 'tier' | null;
  }[];
}

/** Default plan: twenty prices a second and one list of conversions a minute. */
const FIRST: readonly PlannedCall[] = [
  { id: 1, what: '/api/oracle/prices/:id', often: '20', unit: 'perSecond' },
  { id: 2, what: '/api/conversions/', often: '1', unit: 'perMinute' },
];
const MOST_CALLS = 20;
const METHOD = /^(GET|POST|PATCH|DELETE) +(?=\/)/;

export function PlanSimulator() {
  const [calls, setCalls] = useState(FIRST);
  const [outcome, setOutcome] = useState<ActOutcome<Plan> | null>(null);
  /** The index of paths costs a credit, so it is requested only when the reader enters the form. */
  const [isTyped, setTyped] = useState(false);
  const change = (id: number, by: Partial<PlannedCall>) =>
    setCalls(calls.map((one) => (one.id === id ? { ...one, ...by } : one)));
  const price = async () => setOutcome(await priced(calls));
  return (
    <section class="panel" aria-label="What a plan would cost">
      <header>
        <h2>What a plan would cost</h2>
      </header>
      <form aria-label="Plan of calls" onFocusIn={() => setTyped(true)} onSubmit={handleSubmit(() => void price())}>
        <ul class="plan">
          {calls.map((one, index) => (
            <li key={one.id}>
              <PlannedRow one={one} number={index + 1} change={(by) => change(one.id, by)} />
              <button
                type="button"
                aria-label={`Remove call ${index + 1}`}
                disabled={calls.length === 1}
                onClick={() => setCalls(calls.filter(({ id }) => id !== one.id))}
              >
                Remove
              </button>
            </li>
          ))}
        </ul>
        {isTyped && <Offers />}
        <p class="note">A path of the API, or the name of a JSON-RPC method such as getblock.</p>
        <p class="actions">
          <button type="submit" class="main-action">
            Price it
          </button>
          <button
            type="button"
            disabled={calls.length >= MOST_CALLS}
            onClick={() => {
              const id = Math.max(...calls.map((one) => one.id)) + 1;
              setCalls([...calls, { id, what: '', often: '1', unit: 'perMinute' }]);
            }}
          >
            Add a call
          </button>
        </p>
      </form>
      {outcome?.trouble && <Alert trouble={outcome.trouble} title="It could not be priced" />}
      {outcome?.data && <Priced plan={outcome.data} />}
    </section>
  );
}

interface RowProps {
  readonly one: PlannedCall;
  readonly number: number;
  readonly change: (by: Partial<PlannedCall>) => void;
}

function PlannedRow({ one, number, change }: RowProps) {
  return (
    <>
      <input
        type="text"
        list="plan-offers"
        aria-label={`Call ${number}`}
        required
        autocomplete="off"
        spellcheck={false}
        value={one.what}
        onInput={({ currentTarget: { value } }) => change({ what: value })}
      />
      <input
        type="number"
        aria-label={`How often, call ${number}`}
        required
        min={0}
        max={1_000_000}
        step="any"
        value={one.often}
        onInput={({ currentTarget: { value } }) => change({ often: value })}
      />
      <select
        aria-label={`Unit, call ${number}`}
        value={one.unit}
        onChange={({ currentTarget: { value } }) => change({ unit: value as PlannedCall['unit'] })}
      >
        <option value="perSecond">a second</option>
        <option value="perMinute">a minute</option>
      </select>
    </>
  );
}

/** Suggests paths of the service, once its index has arrived. */
function Offers() {
  const [index] = useState(() => ask(call('/api/')));
  const endpoints = index.shown.value?.data.endpoints ?? [];
  return (
    <datalist id="plan-offers">
      {endpoints.map(({ method, path }) => (
        <option key={`${method} ${path}`} value={method === 'GET' ? path : `${method} ${path}`} />
      ))}
    </datalist>
  );
}

function priced(calls: readonly PlannedCall[]): Promise<ActOutcome<Plan>> {
  const body = {
    calls: calls.map(({ what, often, unit }) => {
      const text = what.trim();
      const method = (METHOD.exec(text)?.[1] ?? 'GET') as 'GET';
      const path = text.replace(METHOD, '');
      const named = path.startsWith('/') ? { method, path } : { rpc: path };
      return { ...named, [unit]: Number(often) };
    }),
  };
  // The client returns numbers as text here too, which the types of openapi-fetch do not express.
  return act<unknown>((client) => client.POST('/api/usage/plan', { body })) as Promise<ActOutcome<Plan>>;
}

const integer = (digits: string) => shownNumber(digits, 'integer');
const LACKS = { credits: 'too few credits', tier: 'a call needs a higher tier' } as const;

function Priced({ plan }: { readonly plan: Plan }) {
  return (
    <div data-derived="plan" role="status">
      <p class="worth">
        <strong>{integer(plan.creditsPerMinute)}</strong> credits a minute for {integer(plan.requestsPerMinute)}{' '}
        requests; {plan.withoutKey ? 'it fits without a key too.' : 'it does not fit without a key.'}
      </p>
      <div class="scroll">
        <PlainTable
          caption="Calls of the plan"
          rows={plan.calls}
          columns={[
            {
              label: 'Call',
              cell: ({ rpc, method, path }) => rpc ?? (method === 'GET' ? path : `${method} ${path}`),
            },
            { label: 'Credits of one', isNumber: true, cell: ({ credits }) => integer(credits) },
            { label: 'Calls a minute', isNumber: true, cell: ({ perMinute }) => shownNumber(perMinute, 'amount') },
            { label: 'Credits a minute', isNumber: true, cell: ({ creditsPerMinute }) => integer(creditsPerMinute) },
            { label: 'Needs', cell: ({ tier }) => (tier === null ? 'nothing' : `tier ${tier}`) },
          ]}
        />
      </div>
      <PlainTable
        caption="Tiers for the plan"
        rows={plan.tiers}
        columns={[
          { label: 'Tier', cell: ({ tier }) => tier },
          { label: 'Credits a minute', isNumber: true, cell: ({ creditsPerMinute }) => integer(creditsPerMinute) },
          { label: 'The plan', cell: ({ fits, lacks }) => (fits || lacks === null ? 'fits' : LACKS[lacks]) },
        ]}
      />
    </div>
  );
}
