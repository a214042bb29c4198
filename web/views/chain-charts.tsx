/** Figures of a chain over time, each requested when it becomes visible. */
import { useMemo } from 'preact/hooks';
import {
  type AnswerOf,
  ask,
  Chart,
  type ChartSeries,
  Choices,
  call,
  nativeNameOf,
  Panel,
  shownNumber,
  Value,
  WhenSeen,
} from '../kit.ts';

type Point = AnswerOf<'/api/stats/charts'>['data'][number];

interface Shape extends Pick<ChartSeries<Point>, 'as' | 'kind'> {
  readonly title: string;
  /** Null for the chain's own coin. */
  readonly unit: string | null;
}

/** Staking first, because holders of coins look for it most. */
const SHAPES = {
  stakingSupply: { title: 'Coins that stake', unit: null, as: 'amount', kind: 'line' },
  stakers: { title: 'Addresses that staked a block', unit: '', as: 'integer', kind: 'bars' },
  hashrate: { title: 'Hash rate', unit: 'H/s', as: 'integer', kind: 'line' },
  blockTime: { title: 'Time between blocks', unit: 's', as: 'usd', kind: 'line' },
  transactions: { title: 'Transactions', unit: '', as: 'integer', kind: 'bars' },
  identities: { title: 'Identities registered', unit: '', as: 'integer', kind: 'bars' },
} as const satisfies Readonly<Record<string, Shape>>;

type Metric = keyof typeof SHAPES;

const PERIODS = { '7d': '7 days by hour', '30d': '30 days', '1y': '1 year', all: 'All' } as const;
const [DAY, HOUR] = [86_400, 3_600];

/** The period that the address names, or 30 days. */
const periodOf = (query: URLSearchParams) =>
  (Object.keys(PERIODS) as (keyof typeof PERIODS)[]).find((period) => period === query.get('period')) ?? '30d';

interface ChainChartsProps {
  readonly chain: string;
  readonly query: URLSearchParams;
}

export function ChainCharts({ chain, query }: ChainChartsProps) {
  const period = periodOf(query);
  return (
    <>
      <Choices label="Period" parameter="period" options={PERIODS} standard="30d" isInPlace />
      <div class="halves">
        {(Object.keys(SHAPES) as Metric[]).map((metric) => (
          <WhenSeen key={metric} title={SHAPES[metric].title} frame="tall">
            {() => <MetricChart metric={metric} chain={chain} period={period} />}
          </WhenSeen>
        ))}
      </div>
    </>
  );
}

interface MetricChartProps {
  readonly metric: Metric;
  readonly chain: string;
  readonly period: keyof typeof PERIODS;
}

function MetricChart({ metric, chain, period }: MetricChartProps) {
  const isByHour = period === '7d';
  const query = { metric, chain, period, step: isByHour ? 'hour' : null };
  const answer = useMemo(() => ask(call('/api/stats/charts', { query })), [metric, chain, period]);
  const shape: Shape = SHAPES[metric];
  const unit = shape.unit ?? nativeNameOf(chain);
  const begin = isByHour ? 'Hour that begins at' : 'Day';
  return (
    <Panel title={shape.title} answer={answer} isList frame="tall">
      {({ data }) => (
        <Chart
          at="/data"
          points={data}
          name={`${shape.title}, by ${isByHour ? 'hour' : 'day'}`}
          caption={sentence(data, shape, unit, isByHour)}
          time={({ date, timestamp }) => (isByHour ? timestamp : date)}
          step={isByHour ? HOUR : DAY}
          series={[{ name: shape.title, kind: shape.kind, unit, as: shape.as, value: ({ value }) => value }]}
          empty="The chain has no block in this time."
          columns={[
            { head: begin, cell: () => (isByHour ? <Value at="timestamp" as="time" /> : <Value at="date" />) },
            { head: shape.title, at: 'value', as: shape.as, unit },
          ]}
        />
      )}
    </Panel>
  );
}

function sentence(data: readonly Point[], { as, title }: Shape, unit: string, isByHour: boolean): string {
  const last = data.at(-1);
  if (!last) return '';
  const said = (digits: string) => `${shownNumber(digits, as)} ${unit}`.trim();
  const values = data.map(({ value }) => Number(value));
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const span = data.length > 1 ? `, from ${said(String(least))} to ${said(String(most))} in this time` : '';
  return `${title}: ${said(last.value)} in the newest ${isByHour ? 'hour' : 'day'}${span}.`;
}
