/** /api/stats/charts: UTC days out of ClickHouse, up to what is committed. */
import { CHART_METRICS, CHART_PERIODS, chart } from '../../schemas/rest/statistics.ts';
import { chainParameter, queryParameter, requiredQuery } from '../http/parameters.ts';
import { stateRoute } from '../http/route.ts';
import { tipHeight } from './blocks.ts';
import { committedTick } from './committed-tick.ts';

type Metric = (typeof CHART_METRICS)[number];
type Period = (typeof CHART_PERIODS)[number];

const DAYS: Readonly<Record<Period, number>> = { '7d': 7, '30d': 30, '90d': 90, '1y': 365, all: 1_000_000 };
const SECONDS_PER_DAY = 86_400;

const OF_BLOCKS = 'FROM blocks WHERE chain = {chain: String} AND position <= {position: UInt64}';
/** Conversions are those whose volume counts: no preconversion, mint or burn. */
const SOURCES: Readonly<Record<Metric, string>> = {
  difficulty: `SELECT toStartOfDay(time) AS day, avg(difficulty) AS value ${OF_BLOCKS}`,
  transactions: `SELECT toStartOfDay(time) AS day, sum(tx_count) AS value ${OF_BLOCKS}`,
  conversions: `SELECT toStartOfDay(time) AS day, count() AS value FROM conversions
    WHERE chain = {chain: String} AND generation = {generation: UInt32} AND tick <= {tick: UInt64}
    AND status = 'completed' AND kind IN ('convert', 'via')`,
};

function sqlOf(metric: Metric): string {
  return `SELECT toUnixTimestamp(day) AS timestamp, value FROM
    (${SOURCES[metric]} AND time >= fromUnixTimestamp({since: UInt32}) GROUP BY day ORDER BY day)`;
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
    const today = Math.floor((at?.clock ?? 0) / SECONDS_PER_DAY);
    const rows = await api.clickhouse.query<Day>(sqlOf(metric), {
      chain,
      position: at?.position ?? 0,
      generation: read.state.generation,
      tick: await committedTick(read),
      since: Math.max(0, today - DAYS[period] + 1) * SECONDS_PER_DAY,
    });
    // A mean has no value without blocks, a count does.
    const days = metric === 'difficulty' ? rows : withEmptyDays(rows, today * SECONDS_PER_DAY);
    const data = days.map(({ timestamp, value }) => ({
      date: new Date(timestamp * 1000).toISOString().slice(0, 10),
      timestamp,
      value: Number(value),
    }));
    return { chain, metric, period, data };
  },
});

export const chartRoutes = [charts];
