/**
 * A histogram that is cheap enough to observe for every request: that of prom-client checks the labels and builds a key each time, which
 * takes a microsecond. prom-client still registers and prints this one.
 */
import type { Metric, Registry } from 'prom-client';
import { getOrInsert } from '../domain/get-or-insert.ts';

export interface CountedHistogramOptions {
  readonly name: string;
  readonly help: string;
  /** Upper bounds in ascending order. */
  readonly buckets: readonly number[];
  readonly registers: readonly Registry[];
}

export interface CountedSeries {
  observe(value: number): void;
}

export interface CountedHistogram<Label extends string> {
  /** Returns the series of these labels, which must always have the same order. Callers that observe often should keep the series. */
  series(labels: Readonly<Record<Label, string>>): CountedSeries;
}

interface Series extends CountedSeries {
  readonly labels: Readonly<Record<string, string>>;
  /** Count of each bucket, not cumulative; the last bucket has no upper bound. */
  readonly counts: readonly number[];
  readonly sum: () => number;
}

export function createCountedHistogram<Label extends string>({
  name,
  help,
  buckets,
  registers,
}: CountedHistogramOptions): CountedHistogram<Label> {
  const all = new Map<string, Series>();

  function newSeries(labels: Readonly<Record<Label, string>>): Series {
    const counts = Array.from({ length: buckets.length + 1 }, () => 0);
    let sum = 0;
    return {
      labels,
      counts,
      sum: () => sum,
      observe(value) {
        let bucket = 0;
        while (bucket < buckets.length && value > (buckets[bucket] as number)) bucket++;
        counts[bucket] = (counts[bucket] as number) + 1;
        sum += value;
      },
    };
  }

  function valuesOf({ labels, counts, sum }: Series) {
    let count = 0;
    const cumulative = counts.map((own, bucket) => {
      count += own;
      return { metricName: `${name}_bucket`, labels: { le: buckets[bucket] ?? '+Inf', ...labels }, value: count };
    });
    return [
      ...cumulative,
      { metricName: `${name}_sum`, labels, value: sum() },
      { metricName: `${name}_count`, labels, value: count },
    ];
  }

  const metric = {
    name,
    get: async () => ({
      name,
      help,
      type: 'histogram',
      aggregator: 'sum',
      values: [...all.values()].flatMap(valuesOf),
    }),
  };
  // A registry only needs the name and values of a metric.
  for (const registry of registers) registry.registerMetric(metric as unknown as Metric);
  return {
    series: (labels) => getOrInsert(all, JSON.stringify(labels), () => newSeries(labels)),
  };
}
