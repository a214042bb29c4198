/** Fetches a range in parallel and yields it in order, with a bound on pending and waiting items. Small items are fetched several at a time. */

export interface OrderedFetch<T> {
  readonly from: number;
  /** Inclusive. */
  readonly to: number;
  /** Resolves with `count` items. */
  readonly fetch: (height: number, count: number, signal: AbortSignal) => Promise<readonly T[]>;
  readonly sizeOf: (item: T) => number;
  readonly parallelism: number;
  /** Most items in one fetch. */
  readonly mostAtOnce?: number;
  /** Most bytes that the items of one fetch are expected to have. */
  readonly bytesAtOnce?: number;
  /** Most bytes of waiting and expected items; a single fetch runs whatever its size. */
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

/** Completed fetches that may wait behind a slow one, for each parallel fetch. */
const WAITING_PER_FETCH = 4;
/** Decay, for each item, of the largest size seen, which is the expected size of the next items. */
const SIZE_DECAY = 0.9;

/** Throws a fetch's error after yielding all earlier items; aborts all fetches when the consumer stops. */
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

  /** Returns 1 until sizes are known. Distributes the last items over all fetches, so that none is idle during the last fetch. */
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
      next = to + 1; // no later item will be yielded
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
      // It may be awaited much later, and until then a rejection must not count as unhandled.
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
