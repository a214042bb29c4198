/** Lets any number of waiters sleep until they are woken, their time is over, or their signal aborts. */

export interface WakeUp {
  /** Never rejects. */
  sleep(timeoutMs: number, signal?: AbortSignal): Promise<void>;
  wakeAll(): void;
}

export function createWakeUp(): WakeUp {
  const sleepers = new Set<() => void>();
  return {
    sleep(timeoutMs, signal) {
      if (signal?.aborted) return Promise.resolve();
      return new Promise((resolve) => {
        const wake = () => {
          clearTimeout(timer);
          signal?.removeEventListener('abort', wake);
          sleepers.delete(wake);
          resolve();
        };
        const timer = setTimeout(wake, timeoutMs);
        signal?.addEventListener('abort', wake);
        sleepers.add(wake);
      });
    },
    wakeAll() {
      for (const wake of [...sleepers]) wake();
    },
  };
}
