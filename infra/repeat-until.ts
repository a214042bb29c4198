/** Work that goes on for as long as a part of the program lives. */
import { setTimeout as sleep } from 'node:timers/promises';

export interface RepeatOptions {
  /** Milliseconds between a failure and the next try. */
  readonly retryMs: number;
  /** Called with each failure, before the pause. */
  readonly onError: (error: unknown) => void;
  /** False where the pause must not keep the process alive. */
  readonly ref?: boolean;
}

/** Repeats `work` until `signal` aborts. What `work` throws after that is the end of it, not a failure. */
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

/** Resolves after some milliseconds, or as soon as `signal` aborts. */
export async function pause(milliseconds: number, signal: AbortSignal, ref = true): Promise<void> {
  await sleep(milliseconds, undefined, { signal, ref }).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
}
