/** /api/stats/charts: UTC days out of ClickHouse, up to the chain's newest block. */
import { SECONDS_PER_DAY, utcDay } from '../../../domain/time.ts';
import { IS_TRADE_SQL } from '../../../domain/transfers.ts';
import { chainParameter, queryParameter, requiredQuery } from '../../http/parameters.ts';
import { stateRoute } from '../../http/route.ts';
import { type PricedRows, pricedRows, provisionalMembers } from '../../state/priced-rows.ts';
import { tipHeight } from '../blocks/routes.ts';
import { CHART_METRICS, CHART_PERIODS, chart } from './schema.ts';

type Metric = (typeof CHART_METRICS)[number];
type Period = (typeof CHART_PERIODS)[number];

const DAYS: Readonly<Record<Period, number>> = { '7d': 7, '30d': 30, '90d': 90, '1y': 365, all: 1_000_000 };

const IN_PERIOD = 'chain = {chain: String} AND time >= fromUnixTimestamp({since: UInt32})';
const OF_BLOCKS = `blocks WHERE ${IN_PERIOD} AND position <= {position: UInt64}`;
/** Value of a day, and the rows that it is made of. */
const SOURCES: Readonly<Record<Metric, (rows: PricedRows) => readonly [value: string, from: string]>> = {
  difficulty: () => ['avg(difficulty)', OF_BLOCKS],
  transactions: () => ['sum(tx_count)', OF_BLOCKS],
  conversions: (rows) => ['count()', rows.of('conversions', 'time', `${IN_PERIOD} AND ${IS_TRADE_SQL}`)],
};

function sqlOf(metric: Metric, rows: PricedRows): string {
  const [value, from] = SOURCES[metric](rows);
  return `SELECT toUnixTimestamp(day) AS timestamp, value FROM
    (SELECT toStartOfDay(time) AS day, ${value} AS value FROM ${from} GROUP BY day ORDER BY day)`;
}

interface Day {
  readonly timestamp: number;
  readonly value: string | number;
}

/** Every day from the first one up to `today`. */
function withEmptyDays(days: readonly Day[], today: number): Day[] {
  const known = new Map(days.map((day) => [day.timestamp, day]));
  const first = days[0]?.timestamp ?? today;
  return Array.from({ length: (today - first) / SECONDS_PER_DAY + 1 }, (_, index) => {
    const timestamp = first + index * SECONDS_PER_DAY;
    return known.get(timestamp) ?? { timestamp, value: 0 };
  });
}

const charts = stateRoute({
  path: '/api/stats/charts',
  summary: 'A metric of a chain by UTC day',
  parameters: {
    metric: requiredQuery('What is shown', { type: 'string', enum: CHART_METRICS }),
    period: queryParameter('How far back from the newest block', {
      type: 'string',
      enum: CHART_PERIODS,
      default: '30d',
    }),
    chain: chainParameter,
  },
  response: chart,
  weight: 1,
  tier: null,
  cache: 'prepared',
  scope: 'chain',
  async handler({ params, read, api }) {
    const { chain } = params;
    tipHeight(read, chain);
    const metric = params.metric as Metric;
    const period = params.period as Period;
    const at = read.state.derived.get(chain);
    const today = utcDay(at?.clock ?? 0);
    const rows = await pricedRows(read, api);
    const known = await api.clickhouse.query<Day>(sqlOf(metric, rows), {
      ...rows.params,
      chain,
      position: at?.position ?? 0,
      since: Math.max(0, today - DAYS[period] + 1) * SECONDS_PER_DAY,
    });
    // A mean has no value without blocks, a count does.
    const days = metric === 'difficulty' ? known : withEmptyDays(known, today * SECONDS_PER_DAY);
    const data = days.map(({ timestamp, value }) => ({
      date: new Date(timestamp * 1000).toISOString().slice(0, 10),
      timestamp,
      value: Number(value),
    }));
    const since = metric === 'conversions' ? rows.provisionalSince(at?.clock ?? 0, chain) : null;
    return { chain, metric, period, ...provisionalMembers(since), data };
  },
});

export const chartRoutes = [charts];
