/** Fetches a range in parallel, several items at once where they are small, and yields it in order, with a bound on pending and waiting items. */

export interface OrderedFetch<T> {
  readonly from: number;
  /** Inclusive. */
  readonly to: number;
  /** Resolves with `count` items. */
  readonly fetch: (height: number, count: number, signal: AbortSignal) => Promise<readonly T[]>;
  readonly sizeOf: (item: T) => number;
  readonly parallelism: number;
  /** Most items of one fetch, and the bytes up to which they are expected to be small. */
  readonly mostAtOnce?: number;
  readonly bytesAtOnce?: number;
  /** Bytes that wait or are expected; one fetch runs whatever its size. */
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

/** Fetches waiting behind a slow one, per parallel fetch. */
const WAITING_PER_FETCH = 4;
/** How fast a huge item is forgotten when the size of the next ones is guessed. */
const SIZE_DECAY = 0.9;

/** Throws a fetch's error when its turn comes; ends all fetches when the consumer stops. */
export async function* fetchOrdered<T>(options: OrderedFetch<T>): AsyncGenerator<T, void> {
  const { to, parallelism, maxBytes, sizeOf, mostAtOnce = 1, bytesAtOnce = 0 } = options;
  const controller = new AbortController();
  const abort = (): void => controller.abort(options.signal.reason);
  options.signal.addEventListener('abort', abort, { once: true });
  const queue: Promise<readonly T[]>[] = [];
  let next = options.from;
  let running = 0;
  let expectedItems = 0;
  let waitingBytes = 0;
  let expectedSize = 0;

  /** One until sizes are known. What is left is shared out, so that no connection waits for the last fetch. */
  function countOfNext(): number {
    const small = expectedSize === 0 ? 1 : Math.floor(bytesAtOnce / expectedSize);
    const share = Math.ceil((to - next + 1) / parallelism);
    return Math.max(1, Math.min(mostAtOnce, small, share));
  }

  function hasRoom(count: number): boolean {
    if (running >= parallelism || queue.length >= parallelism * WAITING_PER_FETCH) return false;
    const alone = running === 0 && waitingBytes === 0;
    return alone || waitingBytes + (expectedItems + count) * expectedSize <= maxBytes;
  }

  async function run(height: number, count: number): Promise<readonly T[]> {
    running += 1;
    expectedItems += count;
    try {
      const items = await options.fetch(height, count, controller.signal);
      for (const item of items) {
        const size = sizeOf(item);
        waitingBytes += size;
        expectedSize = Math.max(size, expectedSize * SIZE_DECAY);
      }
      return items;
    } catch (error) {
      next = to + 1; // nothing behind it will be handed out
      throw error;
    } finally {
      running -= 1;
      expectedItems -= count;
      queueMicrotask(fill);
    }
  }

  function fill(): void {
    while (!controller.signal.aborted && next <= to) {
      const count = countOfNext();
      if (!hasRoom(count)) return;
      const items = run(next, count);
      // Its turn may come much later: a rejection must not count as unhandled until then.
      items.catch(() => undefined);
      queue.push(items);
      next += count;
    }
  }

  try {
    options.signal.throwIfAborted();
    fill();
    for (let items = queue.shift(); items; items = queue.shift()) {
      for (const item of await items) {
        waitingBytes -= sizeOf(item);
        fill();
        yield item;
      }
    }
    options.signal.throwIfAborted();
  } finally {
    options.signal.removeEventListener('abort', abort);
    controller.abort();
    await Promise.allSettled(queue);
  }
}
