/** Stores that do not answer delay no subscription, whatever names it contains. */
import { expect, it, vi } from 'vitest';
import { chainConfig } from '../../test/laws/replay.ts';
import { createCurrencyDirectory } from '../state/currency-directory.ts';
import type { ServiceState } from '../state/service-state.ts';
import type { Snapshot } from '../state/snapshot.ts';
import { createCurrencyReader } from './currency-reader.ts';
import { createNames } from './names.ts';

const chains = [chainConfig('vrsc')];
const NAMED = { currency: 'DAI' };
/** Longer than any test. */
const EVER_MS = 1e9;

/** `stores` settles once the stores answer. */
function reading(stores: () => Promise<void>, timing: { waitMs: number; restMs: number }) {
  const watch = { state: { tag: 'first' } as ServiceState };
  const reads: string[] = [];
  const warnings: unknown[] = [];
  const names = createNames({
    chains,
    currencies: createCurrencyDirectory(chains),
    watch,
    withSnapshot: async (work) => {
      const { state } = watch;
      reads.push(state.tag);
      await stores();
      return work({ state, rows: async () => [] } as unknown as Snapshot);
    },
  });
  const logger = { warn: (said: unknown) => warnings.push(said) };
  return { watch, reads, warnings, names, read: createCurrencyReader({ names, logger, ...timing }) };
}

it('silent stores: all subscriptions wait once, together, and a late answer counts', async () => {
  const answered = Promise.withResolvers<void>();
  const { reads, names, read } = reading(() => answered.promise, { waitMs: 10, restMs: EVER_MS });
  expect([read({}), read({ identity: 'DAI' })]).toEqual([null, null]);
  await Promise.all([read(NAMED), read(NAMED)]);
  expect([read(NAMED), read(NAMED)]).toEqual([null, null]);
  expect([reads, names.version()]).toEqual([['first'], 0]);
  answered.resolve();
  await vi.waitFor(() => expect(names.version()).toBe(1), 60_000);
});

it('stores that answer: subscriptions wait for the answer', async () => {
  const answered = Promise.withResolvers<void>();
  const { watch, reads, names, read } = reading(() => answered.promise, { waitMs: EVER_MS, restMs: EVER_MS });
  const wait = read(NAMED);
  answered.resolve();
  await wait;
  expect([names.version(), read(NAMED)]).toEqual([1, null]);
  watch.state = { tag: 'second' } as ServiceState;
  await vi.waitFor(() => expect(read(NAMED)).not.toBeNull(), 60_000);
  expect(reads).toEqual(['first', 'second']);
});

it('failing stores: they are not asked again for a while', async () => {
  const { reads, warnings, read } = reading(() => Promise.reject(new Error('gone')), {
    waitMs: EVER_MS,
    restMs: EVER_MS,
  });
  await Promise.all([read(NAMED), read(NAMED)]);
  expect([read(NAMED), reads.length, warnings.length]).toEqual([null, 1, 1]);
});

it('stores that keep failing: one warning, and one more when they fail after an answer', async () => {
  let isGone = true;
  const stores = async () => {
    if (isGone) throw new Error('gone');
  };
  const { watch, reads, warnings, read } = reading(stores, { waitMs: EVER_MS, restMs: 1 });
  const move = async () => {
    watch.state = { tag: `${reads.length}` } as ServiceState;
    const wait = await vi.waitFor(() => {
      const begun = read(NAMED);
      expect(begun).not.toBeNull();
      return { begun };
    }, 60_000);
    await wait.begun;
  };
  for (let times = 0; times < 3; times++) await move();
  expect([reads.length, warnings.length]).toEqual([3, 1]);
  isGone = false;
  await move();
  isGone = true;
  await move();
  expect([reads.length, warnings.length]).toEqual([5, 2]);
});
