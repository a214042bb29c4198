/** Charts rows of several groups by time step: the sum as bars, and a line for each of the largest groups. */
import { useMemo } from 'preact/hooks';
import { millisecondsOf } from '../text/times.ts';
import { Canvas, type ChartSeries, Figure, Legend } from './chart.tsx';
import type { Column } from './table.tsx';

interface GroupedChartProps<Row> {
  /** JSON pointer of the list. */
  readonly at: string;
  readonly rows: readonly Row[];
  /** Start of the row's step: seconds since the epoch, or ISO 8601. */
  readonly time: (row: Row) => string;
  /** The groups that a row adds to, and the value for each. */
  readonly parts: (row: Row) => readonly (readonly [group: string, value: number])[];
  readonly nameOf: (group: string) => string;
  /** Seconds. */
  readonly step: number;
  /** Seconds since the epoch. A step without rows between `from` and `to` counts as 0. */
  readonly from: number;
  readonly to: number;
  /** Drawn as a line when the sums come near it. */
  readonly limit?: { readonly name: string; readonly value: number };
  readonly unit: string;
  readonly name: string;
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly empty: string;
}

const MOST_LINES = 6;
/** Below this share of the limit, the limit's line would flatten the bars. */
const NEAR = 0.1;

interface Step {
  /** Seconds since the epoch, as digits. */
  readonly time: string;
  readonly sum: number;
  readonly groups: ReadonlyMap<string, number>;
}

export function GroupedChart<Row>(props: GroupedChartProps<Row>) {
  const { rows, step, from, to, limit, unit, name, nameOf } = props;
  const steps = useMemo(() => stepsOf(props), [rows, step, from, to]);
  const groups = largest(steps);
  const lines = groups.length > 1 ? groups.slice(0, MOST_LINES) : [];
  const top = Math.max(...steps.map(({ sum }) => sum));
  const plain = { unit, as: 'integer' } as const;
  const series: ChartSeries<Step>[] = [
    { ...plain, name: 'All', kind: 'bars', value: ({ sum }) => String(sum) },
    ...lines.map((group): ChartSeries<Step> => {
      return { ...plain, name: nameOf(group), kind: 'line', value: (each) => String(each.groups.get(group) ?? 0) };
    }),
    ...(limit && top >= limit.value * NEAR
      ? [{ ...plain, name: limit.name, kind: 'line' as const, value: () => String(limit.value) }]
      : []),
  ];
  return (
    <Figure {...props}>
      {series.length > 1 && <Legend series={series} />}
      <Canvas points={steps} time={({ time }) => time} step={step} name={name} series={series} />
    </Figure>
  );
}

/** Returns every step of the span, oldest first. */
function stepsOf<Row>({ rows, time, parts, step, from, to }: GroupedChartProps<Row>): readonly Step[] {
  const byTime = new Map<number, Map<string, number>>();
  for (const row of rows) {
    const at = millisecondsOf(time(row)) / 1000;
    const groups = byTime.get(at) ?? new Map<string, number>();
    for (const [group, value] of parts(row)) groups.set(group, (groups.get(group) ?? 0) + value);
    byTime.set(at, groups);
  }
  const steps: Step[] = [];
  const first = Math.min(Math.floor(from / step) * step, ...byTime.keys());
  const last = Math.max(to - step, ...byTime.keys()); // the service's clock may be ahead of this one
  for (let at = first; at <= last; at += step) {
    const groups = byTime.get(at) ?? new Map<string, number>();
    steps.push({ time: String(at), sum: [...groups.values()].reduce((sum, each) => sum + each, 0), groups });
  }
  return steps;
}

/** Groups with a sum above 0, the largest first. */
function largest(steps: readonly Step[]): readonly string[] {
  const sums = new Map<string, number>();
  for (const { groups } of steps) {
    for (const [group, value] of groups) sums.set(group, (sums.get(group) ?? 0) + value);
  }
  const some = [...sums].filter(([, sum]) => sum > 0);
  return some.sort(([, a], [, b]) => b - a).map(([group]) => group);
}
