/** Fetches a range in parallel and yields it in order, with a bound on pending and waiting items. */

export interface OrderedFetch<T> {
  readonly from: number;
  /** Inclusive. */
  readonly to: number;
  readonly fetch: (height: number, signal: AbortSignal) => Promise<T>;
  readonly sizeOf: (item: T) => number;
  readonly parallelism: number;
  /** Bytes that wait or are expected; one fetch runs whatever its size. */
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

/** Items waiting behind a slow one, per parallel fetch. */
const WAITING_PER_FETCH = 4;
/** How fast a huge item is forgotten when the size of the next ones is guessed. */
const SIZE_DECAY = 0.9;

/** Throws a fetch's error when its turn comes; ends all fetches when the consumer stops. */
export async function* fetchOrdered<T>(options: OrderedFetch<T>): AsyncGenerator<T, void> {
  const { to, parallelism, maxBytes, sizeOf } = options;
  const controller = new AbortController();
  const abort = (): void => controller.abort(options.signal.reason);
  options.signal.addEventListener('abort', abort, { once: true });
  const queue: Promise<T>[] = [];
  let next = options.from;
  let running = 0;
  let waitingBytes = 0;
  let expectedSize = 0;

  function hasRoom(): boolean {
    if (running >= parallelism || queue.length >= parallelism * WAITING_PER_FETCH) return false;
    const alone = running === 0 && waitingBytes === 0;
    return alone || waitingBytes + (running + 1) * expectedSize <= maxBytes;
  }

  async function run(height: number): Promise<T> {
    running += 1;
    try {
      const item = await options.fetch(height, controller.signal);
      const size = sizeOf(item);
      waitingBytes += size;
      expectedSize = Math.max(size, expectedSize * SIZE_DECAY);
      return item;
    } catch (error) {
      next = to + 1; // nothing behind it will be handed out
      throw error;
    } finally {
      running -= 1;
      queueMicrotask(fill);
    }
  }

  function fill(): void {
    while (!controller.signal.aborted && next <= to && hasRoom()) {
      const item = run(next);
      // Its turn may come much later: a rejection must not count as unhandled until then.
      item.catch(() => undefined);
      queue.push(item);
      next += 1;
    }
  }

  try {
    options.signal.throwIfAborted();
    fill();
    for (let item = queue.shift(); item; item = queue.shift()) {
      const value = await item;
      waitingBytes -= sizeOf(value);
      fill();
      yield value;
    }
    options.signal.throwIfAborted();
  } finally {
    options.signal.removeEventListener('abort', abort);
    controller.abort();
    await Promise.allSettled(queue);
  }
}
