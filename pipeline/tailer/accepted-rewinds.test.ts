import { pino } from 'pino';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { createTestStores, type TestStores } from '../../test/support/infra/test-stores.ts';
import { acceptRewind, watchAcceptedRewinds } from './accepted-rewinds.ts';

let stores: TestStores;
beforeAll(async () => {
  stores = await createTestStores();
});
afterAll(() => stores.close());

const BLOCK = { height: 7, hash: 'ab'.repeat(32) };

it('an accepted rewind reaches the tailer of its chain as one and the same object, and expires', async () => {
  const accepted = watchAcceptedRewinds(stores.postgres, pino({ level: 'silent' }));
  await acceptRewind(stores.postgres, 'vrsc', BLOCK);
  await vi.waitFor(() => expect(accepted.of('vrsc')).toEqual(BLOCK), 30_000);
  const first = accepted.of('vrsc');
  await acceptRewind(stores.postgres, 'other', { ...BLOCK, height: 9 });
  await vi.waitFor(() => expect(accepted.of('other')?.height).toBe(9), 30_000);
  expect(accepted.of('vrsc')).toBe(first);
  // The tailer has used the first permission; the operator gives another one for the same block.
  await acceptRewind(stores.postgres, 'vrsc', BLOCK);
  await vi.waitFor(() => expect(accepted.of('vrsc')).not.toBe(first), 30_000);
  expect(accepted.of('vrsc')).toEqual(BLOCK);
  await stores.postgres.pool.query("UPDATE accepted_rewinds SET created_at = now() - interval '11 minutes'");
  await vi.waitFor(() => expect(accepted.of('vrsc')).toBeNull(), 30_000);
  accepted.close();
});

it('a permission allows one process to rewind, and none after it has expired', async () => {
  const logger = pino({ level: 'silent' });
  const processes = [1, 2].map(() => watchAcceptedRewinds(stores.postgres, logger));
  const seen = () =>
    Promise.all(
      processes.map((accepted) =>
        vi.waitFor(() => {
          const now = accepted.of('once');
          if (!now) throw new Error('not seen yet');
          return now;
        }, 30_000),
      ),
    );
  const take = async (rewinds: readonly (typeof BLOCK)[]) =>
    Promise.all(processes.map((accepted, index) => accepted.take('once', rewinds[index] ?? BLOCK)));
  await acceptRewind(stores.postgres, 'once', BLOCK);
  expect((await take(await seen())).sort()).toEqual([false, true]);
  await acceptRewind(stores.postgres, 'once', { ...BLOCK, height: 8 });
  await vi.waitFor(() => expect(processes.map((accepted) => accepted.of('once')?.height)).toEqual([8, 8]), 30_000);
  const late = await seen();
  await stores.postgres.pool.query(
    "UPDATE accepted_rewinds SET created_at = created_at - interval '11 minutes' WHERE chain = 'once'",
  );
  expect(await take(late)).toEqual([false, false]);
  for (const accepted of processes) accepted.close();
});

it('a used permission is gone after a restart, but not one that the operator has given meanwhile', async () => {
  const logger = pino({ level: 'silent' });
  const accepted = watchAcceptedRewinds(stores.postgres, logger);
  const given = async () => {
    const before = accepted.of('used');
    await acceptRewind(stores.postgres, 'used', BLOCK);
    return vi.waitFor(() => {
      const now = accepted.of('used');
      if (!now || now === before) throw new Error('not seen yet');
      return now;
    }, 30_000);
  };
  const count = async () =>
    (await stores.postgres.pool.query("SELECT FROM accepted_rewinds WHERE chain = 'used'")).rowCount;
  expect(await accepted.take('used', await given())).toBe(true);
  expect(await count()).toBe(0);
  const last = await given();
  await acceptRewind(stores.postgres, 'used', BLOCK); // not seen yet
  expect(await accepted.take('used', last)).toBe(false);
  accepted.close();
  const restarted = watchAcceptedRewinds(stores.postgres, logger);
  await vi.waitFor(() => expect(restarted.of('used')).toEqual(BLOCK), 30_000);
  restarted.close();
});
