/** Turns the /metrics of a process into input series for promtool's tests. */

/** Two scrapes of one process. */
export interface Scraped {
  /** The target of the deployment's Prometheus that the process represents, and its role. */
  readonly instance: string;
  readonly role: string;
  readonly first: string | null;
  /** Null while the process does not answer. */
  readonly second: string | null;
  readonly seconds: number;
}

/** The length of one promtool step. */
export const STEP_SECONDS = 30;
const STEPS = 60;
/** Gauges that are extrapolated, because their alert depends on whether a stage catches up. All other gauges stay constant. */
const MOVING = /^verustream_stage_lag_blocks\{/;
const SAMPLE = /^(\w+)(?:\{(.*)\})? (\S+)$/gm;

interface Sample {
  readonly name: string;
  readonly labels: string;
  readonly value: number;
}

/** Fetches `/metrics` like Prometheus; returns null where Prometheus would set `up` to 0. */
export async function scrape(address: string): Promise<string | null> {
  try {
    const answer = await fetch(`http://${address}/metrics`);
    return answer.ok ? await answer.text() : null;
  } catch {
    return null; // the case that the test shows
  }
}

/** Series and values for half an hour: those of one chain and of no chain, or all. Only metrics that `rules` names. */
export function seriesOf(scraped: readonly Scraped[], rules: string, chain: string | null): Record<string, string> {
  const series: Record<string, string> = {};
  for (const { instance, role, first, second, seconds } of scraped) {
    const target = `instance="${instance}",job="verustream",role="${role}"`;
    series[`up{${target}}`] = `${second === null ? 0 : 1}+0x${STEPS}`;
    const counters = countersOf(second ?? '');
    const before = new Map(samplesOf(first ?? '').map(({ name, labels, value }) => [`${name}{${labels}`, value]));
    for (const { name, labels, value } of samplesOf(second ?? '')) {
      if (!rules.includes(name) || !concerns(labels, chain)) continue;
      const key = `${name}{${labels}`;
      const moves = MOVING.test(key) || counters.some((counter) => name.startsWith(counter));
      const earlier = before.get(key) ?? (moves && !MOVING.test(key) ? 0 : value);
      series[`${key}${labels && ','}${target}}`] = values(value, moves ? (value - earlier) / seconds : 0);
    }
  }
  return series;
}

/** Extrapolates a value; a lag does not fall below 0. */
function values(value: number, perSecond: number): string {
  const step = perSecond * STEP_SECONDS;
  const left = step < 0 ? Math.min(STEPS, Math.floor(value / -step)) : STEPS;
  return left === STEPS ? `${value}+${step}x${STEPS}` : `${value}-${-step}x${left} 0x${STEPS - left}`;
}

function samplesOf(text: string): Sample[] {
  return [...text.matchAll(SAMPLE)].map(([, name = '', labels = '', value]) => ({
    name,
    labels,
    value: Number(value),
  }));
}

/** Names of counters and histograms, by the types that the process declares. */
function countersOf(text: string): string[] {
  return [...text.matchAll(/^# TYPE (\w+) (?:counter|histogram)$/gm)].map(([, name = '']) => name);
}

function concerns(labels: string, chain: string | null): boolean {
  const [, of] = /(?:^|,)chain="([^"]*)"/.exec(labels) ?? [];
  return chain === null || of === undefined || of === '' || of === chain;
}
