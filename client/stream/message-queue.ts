/** A queue between the connection, which pushes messages, and the reader, which takes them one at a time. */
export interface MessageQueue<T> {
  push(item: T): void;
  /** Ends the queue: take() still returns the queued items, then throws the error if there is one. */
  end(error?: Error): void;
  /** Returns the next item, or null at the end. */
  take(): Promise<T | null>;
}

/** Number of taken items after which the array is shortened. */
const MOST_TAKEN = 1_000;

export function createMessageQueue<T>(): MessageQueue<T> {
  let items: T[] = [];
  let taken = 0;
  let ended: { readonly error: Error | undefined } | null = null;
  let wake: (() => void) | null = null;
  const notify = () => {
    wake?.();
    wake = null;
  };
  return {
    push(item) {
      if (ended) return;
      items.push(item);
      notify();
    },
    end(error) {
      ended ??= { error };
      notify();
    },
    async take() {
      for (;;) {
        const item = items[taken];
        if (item !== undefined) {
          taken += 1;
          // A reader that is always a little behind never empties the queue.
          if (taken === items.length || taken === MOST_TAKEN) {
            items = items.slice(taken);
            taken = 0;
          }
          return item;
        }
        if (ended?.error) throw ended.error;
        if (ended) return null;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
  };
}
