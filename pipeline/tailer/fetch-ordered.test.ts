import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fetchOrdered, type OrderedFetch } from './fetch-ordered.ts';

const never = new AbortController().signal;
const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

interface Numbers extends Partial<Omit<OrderedFetch<number>, 'fetch'>> {
  readonly fetch?: (height: number, signal: AbortSignal) => Promise<number>;
  readonly onFetch?: (count: number) => void;
}

function numbers({ fetch = async (height) => height, onFetch, ...options }: Numbers): AsyncGenerator<number, void> {
  return fetchOrdered({
    from: 0,
    to: 9,
    fetch(height, count, signal) {
      onFetch?.(count);
      return Promise.all(Array.from({ length: count }, (_, index) => fetch(height + index, signal)));
    },
    sizeOf: () => 1,
    parallelism: 4,
    maxBytes: 1000,
    signal: never,
    ...options,
  });
}

describe('fetchOrdered', () => {
  it('yields items in order, whatever the order of arrival, within both bounds', async () => {
    const delays = fc.array(fc.record({ ticks: fc.nat(6), size: fc.integer({ min: 0, max: 50 }) }), { maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(
        delays,
        fc.integer({ min: 1, max: 6 }),
        fc.integer({ min: 1, max: 120 }),
        fc.integer({ min: 1, max: 5 }),
        fc.integer({ min: 0, max: 200 }),
        async (plan, parallelism, maxBytes, mostAtOnce, bytesAtOnce) => {
          let running = 0;
          let most = 0;
          const got: number[] = [];
          const items = numbers({
            to: plan.length - 1,
            parallelism,
            maxBytes,
            mostAtOnce,
            bytesAtOnce,
            onFetch: (count) => expect(count).toBeLessThanOrEqual(mostAtOnce),
            sizeOf: (height) => plan[height]?.size ?? 0,
            async fetch(height) {
              running += 1;
              most = Math.max(most, running);
              for (let tick = 0; tick < (plan[height]?.ticks ?? 0); tick += 1) await new Promise(setImmediate);
              running -= 1;
              return height;
            },
          });
          for await (const item of items) got.push(item);
          expect(got).toEqual(plan.map((_, height) => height));
          expect(most).toBeLessThanOrEqual(parallelism * mostAtOnce);
        },
      ),
    );
  });

  it('runs in parallel, and not further ahead of its consumer than the bound', async () => {
    let started = 0;
    const items = numbers({
      to: 999,
      parallelism: 4,
      async fetch(height) {
        started += 1;
        await sleep(1);
        return height;
      },
    });
    await items.next();
    expect(started).toBeGreaterThanOrEqual(4);
    await sleep(50);
    expect(started).toBeLessThanOrEqual(4 * 4 + 1);
    await items.return();
  });

  it('pauses while big items wait, and fetches one at a time when each exceeds the bound', async () => {
    let held = 0;
    let most = 0;
    const items = numbers({
      to: 19,
      parallelism: 8,
      maxBytes: 100,
      sizeOf: () => 150,
      async fetch(height) {
        held += 1;
        if (height >= 8) most = Math.max(most, held); // the first items are requested before any size is known
        await sleep(1);
        return height;
      },
    });
    for await (const _ of items) held -= 1;
    expect(most).toBe(2); // one item is with the consumer while the next is being fetched
  });

  it('fetches several small items at once, big items one by one, and distributes the last items over all fetches', async () => {
    const counts = async (size: number, to: number) => {
      const asked: number[] = [];
      const bounds = { mostAtOnce: 16, bytesAtOnce: 100, maxBytes: 100_000 };
      for await (const _ of numbers({ ...bounds, to, sizeOf: () => size, onFetch: (count) => asked.push(count) }));
      return asked;
    };
    const small = await counts(10, 399);
    expect(small.slice(0, 4)).toEqual([1, 1, 1, 1]); // no size is known yet
    expect(Math.max(...small)).toBe(10);
    expect(small.at(-1)).toBe(1);
    expect(Math.max(...(await counts(101, 99)))).toBe(1);
  });

  it('forgets a single huge item after a while', async () => {
    let running = 0;
    let most = 0;
    const items = numbers({
      to: 99,
      maxBytes: 100,
      sizeOf: (height) => (height === 0 ? 90 : 1),
      async fetch(height) {
        running += 1;
        if (height > 60) most = Math.max(most, running);
        await sleep(1);
        running -= 1;
        return height;
      },
    });
    for await (const _ of items);
    expect(most).toBe(4);
  });

  it('throws an error in order, after all earlier items', async () => {
    const got: number[] = [];
    let started = 0;
    const items = numbers({
      to: 99,
      async fetch(height) {
        started += 1;
        if (height === 5) throw new Error('lost');
        await sleep(1);
        return height;
      },
    });
    await expect(
      (async () => {
        for await (const item of items) got.push(item);
      })(),
    ).rejects.toThrow('lost');
    expect(got).toEqual([0, 1, 2, 3, 4]);
    expect(started).toBeLessThan(12);
  });

  it('aborts running fetches when the consumer stops or the signal aborts', async () => {
    const hanging = (_: number, signal: AbortSignal): Promise<number> =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))));
    let ended = 0;
    const counting = async (height: number, signal: AbortSignal): Promise<number> =>
      height === 0 ? 0 : hanging(height, signal).finally(() => (ended += 1));
    for await (const _ of numbers({ fetch: counting })) break;
    expect(ended).toBeGreaterThanOrEqual(3);

    const controller = new AbortController();
    const pending = numbers({ fetch: hanging, signal: controller.signal }).next();
    controller.abort(new Error('stop'));
    await expect(pending).rejects.toThrow('aborted');
    await expect(numbers({ signal: controller.signal }).next()).rejects.toThrow('stop');
  });
});
