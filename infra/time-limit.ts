/** A limit on how long a caller waits for work that cannot be cancelled. */

/**
 * A process that stood still for so long takes what has arrived meanwhile, and then judges.
 * @throws what `late` makes when `work` has not ended within `limitMs`; the work may continue, and its error is then ignored
 */
export function withTimeLimit<T>(work: Promise<T>, limitMs: number, late: () => Error): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => setImmediate(() => isOver || reject(late())), limitMs);
  });
  return Promise.race([work, limit]).finally(() => {
    isOver = true;
    clearTimeout(timer);
  });
}
