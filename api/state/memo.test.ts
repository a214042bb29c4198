import fc from 'fast-check';
import { expect, it } from 'vitest';
import { QueueFull } from '../access/priority-lanes.ts';
import { approximateBytes } from './approximate-bytes.ts';
import { createMemo, type Memo } from './memo.ts';

function failing(error: Error) {
  const { promise, reject } = Promise.withResolvers<string>();
  return { work: () => promise, fail: () => reject(error) };
}

it('callers that share work whose owner found the queue full do it themselves; other failures reach all of them', async () => {
  const memo = createMemo(100_000);
  for (const [error, expected] of [
    [new QueueFull(), 'own'],
    [new Error('no'), 'no'],
  ] as const) {
    const { work, fail } = failing(error);
    const first = memo.get('key', 'tag', work);
    const joined = memo.get('key', 'tag', async () => 'own');
    fail();
    await expect(first).rejects.toBe(error);
    expect(await joined.catch(({ message }: Error) => message)).toBe(expected);
  }
  expect(await memo.get('key', 'tag', async () => 'again')).toBe('again');
});

it('works once for each state, and again after a failure', async () => {
  const memo = createMemo(100_000);
  let runs = 0;
  const work = async () => ++runs;
  expect([await memo.get('a', '1', work), await memo.get('a', '1', work)]).toEqual([1, 1]);
  expect(await memo.get('a', '2', work)).toBe(2);
  await expect(memo.get('b', '1', () => Promise.reject(new Error('no')))).rejects.toThrow();
  expect(await memo.get('b', '1', work)).toBe(3);
});

/** Returns the keys that a memo still knows, without adding any. */
async function knownOf(memo: Memo, keys: readonly string[]): Promise<string[]> {
  const known: string[] = [];
  for (const key of keys) {
    let isKnown = true;
    await memo
      .get(key, 'tag', async () => {
        isKnown = false;
        throw new Error('not kept');
      })
      .catch(() => undefined);
    if (isKnown) known.push(key);
  }
  return known;
}

it('keeps values up to its bytes, however many and large they are; the most recently used stay', async () => {
  const MAX_BYTES = 50_000;
  const value = fc.oneof(
    fc.array(fc.record({ txid: fc.string({ maxLength: 64 }), vout: fc.nat() }), { maxLength: 200 }),
    fc.string({ maxLength: 3000 }),
    fc.bigInt(),
    fc.constant(undefined),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(value, { minLength: 1, maxLength: 60 }), async (values) => {
      const memo = createMemo(MAX_BYTES);
      for (const [index, made] of values.entries()) await memo.get(`key ${index}`, 'tag', async () => made);
      const keys = values.map((_, index) => `key ${index}`);
      const known = await knownOf(memo, keys.toReversed());
      const sizes = values.map((made) => approximateBytes(made));
      const held = known.reduce((sum, key) => sum + (sizes[Number(key.slice(4))] ?? 0), 0);
      expect(held).toBeLessThanOrEqual(MAX_BYTES);
      expect(known).toEqual(keys.slice(keys.length - known.length).toReversed());
    }),
  );
});

it('evicts smaller values for a large one, and does not keep a value larger than all of its bytes', async () => {
  const memo = createMemo(10_000);
  await memo.get('small', 'tag', async () => 'x');
  await memo.get('whole', 'tag', async () => 'x'.repeat(9_500));
  expect(await knownOf(memo, ['whole', 'small'])).toEqual(['whole']);
  await memo.get('beyond', 'tag', async () => 'x'.repeat(20_000));
  expect(await knownOf(memo, ['beyond'])).toEqual([]);
});
