/** /api/stats/charts: UTC days or hours, up to the newest block. */
import { SECONDS_PER_DAY, utcDate } from '../../../domain/time.ts';
import { ApiError, parameterError } from '../../http/api-error.ts';
import { chainOrAllParameter, formatParameter, queryParameter, requiredQuery } from '../../http/parameters.ts';
import { stateRoute } from '../../http/route.ts';
import { marksIn } from '../../state/marks.ts';
import { pricedRows, provisionalMembers } from '../../state/priced-rows.ts';
import { tipHeight } from '../../state/tip-height.ts';
import {
  CHART_METRICS,
  CHART_STEPS,
  type ChartPoint,
  type ChartStep,
  chartPoints,
  firstStep,
  METRICS,
  METRICS_OF_ALL,
} from './chart-metrics.ts';
import { CHART_PERIODS, chart } from './schema.ts';

type Period = (typeof CHART_PERIODS)[number];

const DAYS: Readonly<Record<Period, number>> = { '7d': 7, '30d': 30, '90d': 90, '1y': 365, all: 1_000_000 };
const SPANS: Readonly<Record<ChartStep, number>> = { day: SECONDS_PER_DAY, hour: 3600 };
const MOST_DAYS_OF_HOURS = 30;
const ALL = 'all';

/** Every step from `from`, or from the first point when it is null, to the newest block; steps without a point have the value 0. */
function withEmptySteps(
  points: readonly ChartPoint[],
  from: number | null,
  newest: number,
  span: number,
): ChartPoint[] {
  const known = new Map(points.map((point) => [point.timestamp, point]));
  const last = Math.floor(newest / span) * span;
  const first = from ?? points[0]?.timestamp ?? last;
  return Array.from({ length: (last - first) / span + 1 }, (_, index) => {
    const timestamp = first + index * span;
    return known.get(timestamp) ?? { timestamp, value: 0 };
  });
}

const charts = stateRoute({
  path: '/api/stats/charts',
  summary: 'A metric of a chain, or of all chains, by UTC day or hour',
  parameters: {
    metric: requiredQuery('Metric to show', { type: 'string', enum: CHART_METRICS }),
    period: queryParameter('How far back from the newest block', {
      type: 'string',
      enum: CHART_PERIODS,
      default: '30d',
    }),
    step: queryParameter('hour only with the periods 7d and 30d', {
      type: 'string',
      enum: CHART_STEPS,
      default: 'day',
    }),
    chain: chainOrAllParameter,
    ...formatParameter,
  },
  response: chart,
  rows: { member: 'data' },
  weight: 1,
  cache: 'prepared',
  scope: 'all',
  async handler({ params, read, api }) {
    const { chain, metric, period, step } = params;
    if (chain === ALL && !METRICS[metric].ofAll) {
      throw parameterError('chain', `${metric} is of one chain; of all chains are ${METRICS_OF_ALL.join(', ')}`);
    }
    if (step === 'hour' && DAYS[period] > MOST_DAYS_OF_HOURS) {
      throw parameterError('step', `hours of ${period} are too many: choose period 7d or 30d, or step day`);
    }
    if (chain !== ALL) tipHeight(read, chain);
    const chains = chain === ALL ? [...read.state.derived.keys()] : [chain];
    const newest = Math.max(0, ...chains.map((name) => read.state.derived.get(name)?.clock ?? 0));
    if (newest === 0) throw new ApiError('syncing', 'no block is indexed yet');
    const today = Math.floor(newest / SECONDS_PER_DAY);
    const since = Math.max(0, today - DAYS[period] + 1) * SECONDS_PER_DAY;
    const rows = await pricedRows(read, api);
    const range = { chains, step, since };
    const known = await chartPoints(read, api, rows, metric, range);
    const isCount = METRICS[metric].kind === 'sum';
    // A period is shown whole, also if nothing was counted at its beginning; all of history begins with the first count.
    const from = isCount && period !== 'all' ? await firstStep(read, api, range) : null;
    // In a step without blocks a mean has no value; a count is 0.
    const points = isCount ? withEmptySteps(known, from, newest, SPANS[step]) : known;
    const data = points.map(({ timestamp, value }) => {
      return { date: utcDate(timestamp), timestamp, value };
    });
    const of = chain === ALL ? undefined : chain;
    return {
      chain,
      metric,
      period,
      step,
      ...provisionalMembers(metric === 'conversions' ? rows.provisionalSince(newest, of) : null),
      marks: marksIn(api, since, newest + 1, of),
      data,
    };
  },
});

export const chartRoutes = [charts];
