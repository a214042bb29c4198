/** How much of the machine an export takes. */
import { pause } from '../../infra/repeat-until.ts';

export interface ExportPace {
  /** Files that ClickHouse writes at once. */
  readonly atOnce: number;
  /** Days that are copied from Postgres at once. */
  readonly copiesAtOnce: number;
  /** Files that are copied, hashed or placed in the meantime: the more, the fewer writes of the disk's journal. */
  readonly meanwhile: number;
  /** Threads that one statement may use. */
  readonly threads: number;
  /** Nice value of ClickHouse's threads on Linux; ClickHouse ignores it when it lacks the right to set it. */
  readonly nice: number;
  /** How long to rest after a file, as a multiple of the time that it took. */
  readonly rest: number;
}

/** For an export that competes with no other work. */
export const ALONE: ExportPace = { atOnce: 3, copiesAtOnce: 2, meanwhile: 12, threads: 2, nice: 0, rest: 0 };
/**
 * For a process that also serves: at most one core and one connection, a quarter of the time, at low priority.
 * docs/decisions/0120-many-small-files.md
 */
export const BESIDE_SERVICE: ExportPace = { atOnce: 1, copiesAtOnce: 1, meanwhile: 0, threads: 1, nice: 19, rest: 3 };

/** Rests after a file that took `tookMs`. Ends early when the signal aborts. */
export async function restAfter({ rest }: ExportPace, tookMs: number, signal: AbortSignal): Promise<void> {
  if (rest > 0) await pause(tookMs * rest, signal, false);
}
