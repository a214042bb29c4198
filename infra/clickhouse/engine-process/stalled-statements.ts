/**
 * Detects statements that the engine has lost: sent long ago, not answered, and not among the statements that it runs. This happened
 * rarely and could not be reproduced; a lost statement would block its connection forever (docs/decisions/0112-engine-process.md).
 */
import { setTimeout as sleep } from 'node:timers/promises';

export interface StalledWatch {
  /** Watches the statement until `work` settles, and settles like it. */
  during<T>(sql: string, work: Promise<T>): Promise<T>;
  end(): void;
}

export interface WatchTimes {
  /** A statement may be lost only after this time. */
  readonly afterMs: number;
  readonly everyMs: number;
  /** Time limit for the check itself. */
  readonly answerMs: number;
}

const TIMES: WatchTimes = { afterMs: 30_000, everyMs: 5_000, answerMs: 30_000 };
const SHOWN_CHARACTERS = 300;

/** `running` counts the statements that have run for longer than `seconds`. `onStalled` is called once, with the lost statements. */
export function watchForStalled(
  running: (seconds: number) => Promise<number>,
  onStalled: (statements: readonly string[]) => void,
  { afterMs, everyMs, answerMs }: WatchTimes = TIMES,
): StalledWatch {
  const underWay = new Map<symbol, { readonly sql: string; readonly since: number }>();
  const ended = new AbortController();

  const old = () => [...underWay].filter(([, { since }]) => performance.now() - since > afterMs);

  /** Returns the old statements if the engine runs fewer long statements than there are old ones; else none. */
  async function look(): Promise<readonly symbol[]> {
    if (old().length === 0) return [];
    const found = await Promise.race([
      running(afterMs / 1000 / 2).catch(() => Number.POSITIVE_INFINITY), // an engine that refuses the check works
      sleep(answerMs, 0, { ref: false }),
    ]);
    const still = old();
    return still.length > found ? still.map(([key]) => key) : [];
  }

  async function watch(): Promise<void> {
    for (let before: readonly symbol[] = []; ; ) {
      await sleep(everyMs, undefined, { ref: false, signal: ended.signal });
      const now = await look();
      // In two checks in a row: a statement that has just ended is not running, and its answer may not have arrived.
      const still = now.filter((key) => before.includes(key));
      if (still.length > 0) {
        onStalled(still.map((key) => (underWay.get(key)?.sql ?? '').slice(0, SHOWN_CHARACTERS)));
        return;
      }
      before = now;
    }
  }

  watch().catch((error: unknown) => {
    if (!ended.signal.aborted) throw error;
  });

  return {
    async during(sql, work) {
      const key = Symbol('statement');
      underWay.set(key, { sql, since: performance.now() });
      try {
        return await work;
      } finally {
        underWay.delete(key);
      }
    },
    end: () => ended.abort(),
  };
}
