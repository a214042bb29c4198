/** What is there at once goes on at once: most requests are answered without leaving their callback. */
export type Soon<T> = T | Promise<T>;

export function andThen<T, R>(value: Soon<T>, next: (value: T) => Soon<R>): Soon<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}

/** As `try … catch` around an await: also what `work` throws before its first await is caught. */
export function orElse<T>(work: () => Soon<T>, caught: (error: unknown) => Soon<T>): Soon<T> {
  try {
    const value = work();
    return value instanceof Promise ? value.catch(caught) : value;
  } catch (error) {
    return caught(error);
  }
}
