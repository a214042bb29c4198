/** The statements that an answer sends to ClickHouse, and what they cost alone. */
import type { ClickHouse } from '../../infra/clickhouse/clickhouse.ts';
import type { Latency } from './latency.ts';

type Statement = Parameters<ClickHouse['query']>;
export type Statements = readonly Statement[];

export interface Recorder {
  readonly clickhouse: ClickHouse;
  /** Returns the statements that are sent during the work. */
  during(work: () => Promise<unknown>): Promise<Statements>;
}

export function recordStatements(clickhouse: ClickHouse): Recorder {
  let heard: Statement[] | null = null;
  const rows: ClickHouse['rows'] = (reader, ...statement) => {
    heard?.push(statement);
    return clickhouse.rows(reader, ...statement);
  };
  return {
    clickhouse: { ...clickhouse, rows },
    async during(work) {
      const own: Statement[] = [];
      heard = own;
      await work();
      heard = null;
      return own;
    },
  };
}

/** Runs all statements one after the other, as the service does for one answer, however many callers wait for it. */
export async function bare(clickhouse: ClickHouse, statements: Statements, seconds: number): Promise<Latency> {
  const until = performance.now() + seconds * 1000;
  const took: number[] = [];
  while (performance.now() < until) {
    const began = performance.now();
    for (const statement of statements) await clickhouse.query(...statement);
    took.push(performance.now() - began);
  }
  took.sort((a, b) => a - b);
  const at = (part: number) => took[Math.min(took.length - 1, Math.floor(took.length * part))] ?? Number.NaN;
  return { rate: took.length / seconds, p50: at(0.5), p99: at(0.99) };
}
