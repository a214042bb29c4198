/** Credits that the keys and sessions of an identity used, and the remaining ones. */
import {
  type Answer,
  Choices,
  type Column,
  Field,
  Fields,
  GroupedChart,
  inertText,
  Panel,
  SaveLink,
  shownNumber,
  USAGE_STEPS,
  type UsageStep,
  usageSpanOf,
  usageStepOf,
  useRefresh,
  Value,
  type ViewProps,
} from '../kit.ts';
import { RemainingCredits } from './remaining-credits.tsx';
import { PlanSimulator } from './usage-plan.tsx';
import { type UsageRow, UsageSums } from './usage-sums.tsx';

type Used = Answer<'/api/usage'>;
type Keys = Answer<'/api/keys'>;

/** Counts are written every second, so the current step changes with every request. */
const USED_MS = 15_000;
const SPANS: Readonly<Record<UsageStep, readonly [first: string, all: string]>> = {
  minute: ['The last hour', 'The last 24 hours'],
  hour: ['The last day', 'The last 30 days'],
  day: ['The last 30 days', 'The last 400 days'],
};

export function View({ query, answers: [left, byKey, byRoute, keys] }: ViewProps<'usage'>) {
  useRefresh(byKey, USED_MS);
  useRefresh(byRoute, USED_MS);
  const step = usageStepOf(query, 'key');
  const [first, all] = SPANS[step];
  return (
    <>
      <Left answer={left} />
      <div class="lists">
        <Choices label="Step" parameter="step" options={{ minute: 'By minute', hour: 'By hour', day: 'By day' }} />
        <Choices label="Span" parameter="span" options={{ first, all }} />
        <KeyChoice keys={keys} />
      </div>
      <Credits answer={byKey} query={query} keys={keys} />
      <Refused answer={byKey} query={query} />
      <Routes answer={byRoute} query={query} />
      <PlanSimulator />
    </>
  );
}

function Left({ answer }: { readonly answer: Answer<'/api/usage/now'> }) {
  const note = () => (
    <>
      As of <Value at="/at" as="time" />. The counts below follow within{' '}
      <Value at="/writtenWithinSeconds" as="integer" unit="s" />. They are exactly what was paid, with one exception:
      after a crash of the service, the last 2 seconds before it may be missing. They are never too high.
    </>
  );
  return <RemainingCredits answer={answer} note={note} />;
}

/** Chooses one key, or all keys. */
function KeyChoice({ keys }: { readonly keys: Keys }) {
  const listed = keys.shown.value?.data.keys ?? [];
  const options: Record<string, string> = { '': 'All keys' };
  for (const { id, name } of listed) options[id] = inertText(name);
  options.session = 'Sessions';
  return <Choices label="Key" parameter="key" options={options} />;
}

/** Usage counts revoked keys, which the list of keys omits. Without that list no key is known to be revoked. */
function keyName(keys: Keys, id: string): string {
  if (id === 'session') return 'Sessions';
  const listed = keys.shown.value?.data.keys;
  if (!listed) return id;
  return listed.find((key) => key.id === id)?.name ?? `Revoked ${id}`;
}

interface UsedProps {
  readonly answer: Used;
  readonly query: URLSearchParams;
}

const keyOf = ({ keyId }: UsageRow) => keyId ?? '';
const routeOf = ({ route }: UsageRow) => route ?? '';
const creditsOf = ({ credits }: UsageRow) => Number(credits);
const refusedOf = ({ refused }: UsageRow) => Number(refused);
const timeOf = ({ at }: UsageRow) => at;

/** Properties that the charts of the view share. */
const usageSteps = (rows: readonly UsageRow[], step: UsageStep, query: URLSearchParams) => ({
  at: '/results',
  rows,
  time: timeOf,
  step: USAGE_STEPS[step].step,
  ...usageSpanOf(query, step),
  empty: 'There were no requests in this time.',
});

const COUNTS: readonly Column<UsageRow>[] = [
  { head: 'Requests', at: 'requests', as: 'integer' },
  { head: 'Credits', at: 'credits', as: 'integer' },
];
const REFUSALS: readonly Column<UsageRow>[] = [
  { head: 'Refused', at: 'refused', as: 'integer' },
  { head: 'Identity’s credits', at: 'rateLimited', as: 'integer' },
  { head: 'Key’s credits', at: 'keyLimited', as: 'integer' },
  { head: 'Tier', at: 'tierRequired', as: 'integer' },
];
const BEGAN: Column<UsageRow> = { head: 'Began', at: 'at', as: 'time' };
const KEY: Column<UsageRow> = { head: 'Key', at: 'keyId', as: 'id' };

function Credits({ answer, query, keys }: UsedProps & { readonly keys: Keys }) {
  const step = usageStepOf(query, 'key');
  const nameOf = (id: string) => keyName(keys, id);
  return (
    <Panel title={`Credits by ${step}`} answer={answer} frame="tall">
      {({ results, creditsPerMinute, nextCursor }) => {
        const allowance = (Number(creditsPerMinute) * USAGE_STEPS[step].step) / 60;
        return (
          <>
            <GroupedChart
              {...usageSteps(results, step, query)}
              parts={(row) => [[keyOf(row), creditsOf(row)]]}
              nameOf={nameOf}
              limit={{ name: `Allowance of a ${step}`, value: allowance }}
              unit="credits"
              name={`Credits by ${step}`}
              caption={creditSentence(results, step, allowance)}
              columns={[BEGAN, KEY, ...COUNTS, ...REFUSALS]}
            />
            <UsageSums rows={results} head="Key" group={keyOf} nameOf={nameOf} />
            <Foot answer={answer} name={`usage-by-${step}`} isCut={nextCursor !== null} />
          </>
        );
      }}
    </Panel>
  );
}

function creditSentence(rows: readonly UsageRow[], step: UsageStep, allowance: number): string {
  const byTime = Map.groupBy(rows, timeOf);
  const sums = [...byTime.values()].map((some) => some.reduce((sum, row) => sum + creditsOf(row), 0));
  const all = sums.reduce((sum, each) => sum + each, 0);
  const most = Math.max(0, ...sums);
  const share = ((most / allowance) * 100).toFixed(1);
  return `${integer(all)} credits; at most ${integer(most)} in a ${step}, ${share} % of the ${integer(allowance)} that it allows.`;
}

const integer = (value: number) => shownNumber(String(value), 'integer');

const REASONS = {
  rateLimited: 'Credits of the identity',
  keyLimited: 'Credits of the key',
  tierRequired: 'A higher tier',
} as const;
type Reason = keyof typeof REASONS;
const reasons = Object.keys(REASONS) as Reason[];

function Refused({ answer, query }: UsedProps) {
  const step = usageStepOf(query, 'key');
  return (
    <Panel title={`Refused requests by ${step}`} answer={answer} frame="medium">
      {({ results }) => {
        const sumOf = (reason: Reason) => results.reduce((sum, row) => sum + Number(row[reason]), 0);
        return (
          <>
            <Fields>
              {reasons.map((reason) => (
                <Field key={reason} label={REASONS[reason]}>
                  <span class="number" data-derived={`sum-${reason}`}>
                    {integer(sumOf(reason))}
                  </span>
                </Field>
              ))}
            </Fields>
            {results.some((row) => refusedOf(row) > 0) ? (
              <RefusedChart rows={results} step={step} query={query} />
            ) : (
              <p class="empty">No request was refused in this time.</p>
            )}
          </>
        );
      }}
    </Panel>
  );
}

interface RefusedChartProps {
  readonly rows: readonly UsageRow[];
  readonly step: UsageStep;
  readonly query: URLSearchParams;
}

function RefusedChart({ rows, step, query }: RefusedChartProps) {
  const all = rows.reduce((sum, row) => sum + refusedOf(row), 0);
  return (
    <GroupedChart
      {...usageSteps(rows, step, query)}
      parts={(row) => reasons.map((reason) => [REASONS[reason], Number(row[reason])])}
      nameOf={(reason) => reason}
      unit="requests"
      name={`Refused requests by ${step}`}
      caption={`${integer(all)} requests were refused. A refused request costs no credits where they did not suffice.`}
      columns={[BEGAN, KEY, ...REFUSALS]}
    />
  );
}

function Routes({ answer, query }: UsedProps) {
  const step = usageStepOf(query, 'route');
  const nameOf = (route: string) => (route === '' ? 'Before 0.4.0' : route);
  return (
    <Panel title={`Routes by ${step}`} answer={answer} frame="tall">
      {({ results, nextCursor }) => (
        <>
          <GroupedChart
            {...usageSteps(results, step, query)}
            parts={(row) => [[routeOf(row), creditsOf(row)]]}
            nameOf={nameOf}
            unit="credits"
            name={`Credits of routes by ${step}`}
            caption={`${new Set(results.map(routeOf)).size} routes. They are counted by hour, for 30 days.`}
            columns={[BEGAN, { head: 'Route', at: 'route' }, ...COUNTS, ...REFUSALS]}
          />
          <UsageSums rows={results} head="Route" group={routeOf} nameOf={nameOf} />
          <Foot answer={answer} name={`usage-of-routes-by-${step}`} isCut={nextCursor !== null} />
        </>
      )}
    </Panel>
  );
}

interface FootProps {
  readonly answer: Used;
  /** Name of the CSV file, without its extension. */
  readonly name: string;
  readonly isCut: boolean;
}

function Foot({ answer, name, isCut }: FootProps) {
  const url = answer.call.url.replace('/api/usage?', '/api/usage/csv?');
  return (
    <p class="actions">
      <SaveLink words="CSV" url={url} name={`${name}.csv`} />
      {isCut && <span class="muted">There are more rows: choose a key or a longer step to see all of them.</span>}
    </p>
  );
}
