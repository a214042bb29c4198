/** Settles like `outcome`, or rejects with the signal's reason if it aborts first. The work itself continues. */
export function untilAborted<T>(
  outcome: Promise<T>,
  signal: AbortSignal | undefined,
  aborted: () => void = () => undefined,
): Promise<T> {
  if (!signal) return outcome;
  return new Promise((resolve, reject) => {
    const abort = () => {
      aborted();
      reject(signal.reason);
    };
    signal.addEventListener('abort', abort);
    outcome.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
    if (signal.aborted) abort();
  });
}
