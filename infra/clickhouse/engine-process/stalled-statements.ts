/**
 * Notices statements that the engine has lost: handed to it long ago, not answered, and not among those that it runs. It has happened
 * rarely and could not be reproduced; such a statement would hold its connection for ever (docs/decisions/0112-engine-process.md).
 */
import { setTimeout as sleep } from 'node:timers/promises';

export interface StalledWatch {
  /** Settles like the work. */
  during<T>(sql: string, work: Promise<T>): Promise<T>;
  end(): void;
}

export interface WatchTimes {
  /** A statement is looked for after this time. */
  readonly afterMs: number;
  readonly everyMs: number;
  /** For the answer to the look itself. */
  readonly answerMs: number;
}

const TIMES: WatchTimes = { afterMs: 30_000, everyMs: 5_000, answerMs: 30_000 };
const SHOWN_CHARACTERS = 300;

/** `running`: how many statements the engine has run for longer than `seconds`. `onStalled` is called once, with the lost ones. */
export function watchForStalled(
  running: (seconds: number) => Promise<number>,
  onStalled: (statements: readonly string[]) => void,
  { afterMs, everyMs, answerMs }: WatchTimes = TIMES,
): StalledWatch {
  const underWay = new Map<symbol, { readonly sql: string; readonly since: number }>();
  const ended = new AbortController();

  const old = () => [...underWay].filter(([, { since }]) => performance.now() - since > afterMs);

  /** Those that are old, if the engine runs fewer statements than that. */
  async function look(): Promise<readonly symbol[]> {
    if (old().length === 0) return [];
    const found = await Promise.race([
      running(afterMs / 1000 / 2).catch(() => Number.POSITIVE_INFINITY), // it refuses, so it works
      sleep(answerMs, 0, { ref: false }),
    ]);
    const still = old();
    return still.length > found ? still.map(([key]) => key) : [];
  }

  async function watch(): Promise<void> {
    for (let before: readonly symbol[] = []; ; ) {
      await sleep(everyMs, undefined, { ref: false, signal: ended.signal });
      const now = await look();
      // Twice: between the end of a statement and its answer it is in neither list.
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
