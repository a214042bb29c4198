/** A limit on how long a caller waits for work that cannot be cancelled. */

/**
 * Waits one more turn of the event loop at the limit, so that a process that was stalled first reads what has arrived meanwhile.
 * @throws the error of `late` if `work` has not ended within `limitMs`; the work may continue, and its error is then ignored
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
