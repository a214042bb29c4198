/** Work that repeats for as long as a part of the program runs. */

export interface RepeatOptions {
  /** Milliseconds between a failure and the next attempt. */
  readonly retryMs: number;
  /** Called with each failure, before the pause. */
  readonly onError: (error: unknown) => void;
  /** False if the pause must not keep the process alive. */
  readonly ref?: boolean;
}

/** Repeats `work` until `signal` aborts. Ignores what `work` throws after the abort. */
export async function repeatUntil(
  signal: AbortSignal,
  work: () => Promise<void>,
  { retryMs, onError, ref = true }: RepeatOptions,
): Promise<void> {
  while (!signal.aborted) {
    try {
      await work();
    } catch (error) {
      if (signal.aborted) return;
      onError(error);
      await pause(retryMs, signal, ref);
    }
  }
}

/** Resolves after some milliseconds, or once a signal aborts. Leaves no listener on a long-lived signal, unlike AbortSignal.any. */
export function pause(milliseconds: number, until: AbortSignal | readonly AbortSignal[], ref = true): Promise<void> {
  const signals = [until].flat();
  if (signals.some(({ aborted }) => aborted)) return Promise.resolve();
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      for (const signal of signals) signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, milliseconds);
    if (!ref) timer.unref();
    for (const signal of signals) signal.addEventListener('abort', end);
  });
}

/** Runs `work` with its own signal, which aborts with `parent`, after `limitMs` (null for no limit), and when the work ends. */
export async function withOwnSignal<T>(
  parent: AbortSignal,
  limitMs: number | null,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const own = new AbortController();
  const end = () => own.abort(parent.reason);
  if (parent.aborted) end();
  parent.addEventListener('abort', end);
  const late = () => own.abort(new DOMException('The work took too long', 'TimeoutError'));
  const timer = limitMs === null ? undefined : setTimeout(late, limitMs).unref();
  try {
    return await work(own.signal);
  } finally {
    clearTimeout(timer);
    parent.removeEventListener('abort', end);
    own.abort();
  }
}
