import { getOrInsert } from '../domain/get-or-insert.ts';

/** Runs `work` once at a time for any number of callers: calls during a run share the next run, which begins after them. */
export function shared<T>(work: () => Promise<T>): () => Promise<T> {
  let current: Promise<unknown> = Promise.resolve();
  let next: Promise<T> | null = null;
  const begin = (): Promise<T> => {
    next = null;
    const run = work();
    current = run;
    return run;
  };
  return () => {
    next ??= current.then(begin, begin);
    return next;
  };
}

/** Runs work once at a time per key: a call during a run shares that run. */
export function createFlights<K, T>(): (key: K, work: () => Promise<T>) => Promise<T> {
  const running = new Map<K, Promise<T>>();
  return (key, work) => getOrInsert(running, key, () => work().finally(() => running.delete(key)));
}
