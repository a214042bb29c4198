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
