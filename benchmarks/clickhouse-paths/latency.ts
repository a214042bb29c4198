/** Latency of answers under load from wrk. */
import { output } from '../wrk.ts';

export interface WrkLoad {
  readonly seconds: number;
  readonly connections: number;
}

export interface Latency {
  /** Requests per second. */
  readonly rate: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
}

const MOST_SECONDS = 60;

/** Doubles the duration while no answer was ready in time. @throws when an answer was an error */
export async function latencyOf(url: string, { seconds, connections }: WrkLoad): Promise<Latency> {
  const timing = ['--threads', '1', '--connections', String(connections), '--duration', `${seconds}s`];
  const text = await output([...timing, '--latency', '--timeout', '20s', url]);
  const [, rate] = /Requests\/sec:\s+([\d.]+)/.exec(text) ?? [];
  if (rate === undefined || text.includes('Non-2xx') || text.includes('Socket errors')) {
    throw new Error(`${url} failed under load: ${text}`);
  }
  if (Number(rate) > 0) return { rate: Number(rate), p50: percentile(text, 50), p99: percentile(text, 99) };
  if (seconds >= MOST_SECONDS) throw new Error(`${url} does not answer within ${seconds} s`);
  return latencyOf(url, { seconds: 2 * seconds, connections });
}

const MILLISECONDS: Readonly<Record<string, number>> = { us: 0.001, ms: 1, s: 1000, m: 60_000 };

/** Parses the line "  99%  12.34ms". */
function percentile(text: string, percent: number): number {
  const [, value, unit = ''] = new RegExp(`^\\s+${percent}%\\s+([\\d.]+)(\\w+)`, 'm').exec(text) ?? [];
  const factor = MILLISECONDS[unit];
  if (value === undefined || factor === undefined) throw new Error(`wrk does not tell its ${percent} %: ${text}`);
  return Number(value) * factor;
}
