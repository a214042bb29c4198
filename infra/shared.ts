/** One run at a time for any number of askers: who asks while one is under way shares the next, which begins after they asked. */
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
