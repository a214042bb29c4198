/** How much of the machine an export takes. */
import { pause } from '../../infra/repeat-until.ts';

export interface ExportPace {
  /** Files that ClickHouse writes at once. */
  readonly atOnce: number;
  /** Days that are copied from Postgres at once. */
  readonly copiesAtOnce: number;
  /** Files that are copied, hashed or put in their places meanwhile: the more, the fewer writes of the disk's journal. */
  readonly meanwhile: number;
  /** How many one statement may use. */
  readonly threads: number;
  /** Nice value of ClickHouse's threads on Linux; without the right to set it ClickHouse leaves it. */
  readonly nice: number;
  /** How long to rest after a file, in times of what it took. */
  readonly rest: number;
}

/** Nothing else runs that anyone waits for. */
export const ALONE: ExportPace = { atOnce: 3, copiesAtOnce: 2, meanwhile: 12, threads: 2, nice: 0, rest: 0 };
/** The process serves too: a core and a connection at most, a quarter of the time, and whoever else wants the core has it first. docs/decisions/0120-many-small-files.md */
export const BESIDE_SERVICE: ExportPace = { atOnce: 1, copiesAtOnce: 1, meanwhile: 0, threads: 1, nice: 19, rest: 3 };

/** After a file that took so long. Ends early when the signal aborts. */
export async function restAfter({ rest }: ExportPace, tookMs: number, signal: AbortSignal): Promise<void> {
  if (rest > 0) await pause(tookMs * rest, signal, false);
}
