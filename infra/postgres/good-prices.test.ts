/** Which prices of earlier versions migration 0029 keeps as good. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestStores, type TestStores } from '../../test/support/infra/test-stores.ts';
import { readMigrations } from '../migrations.ts';

let stores: TestStores;
beforeAll(async () => {
  stores = await createTestStores();
});
afterAll(() => stores.close());

it('keeps a rejected price that stayed published as good if the feed itself confirms it', async () => {
  const migration = (await readMigrations('postgres')).find(({ name }) => name.startsWith('0029-'));
  const { pool } = stores.postgres;
  await pool.query('DROP TABLE good_prices');
  for (const [currencyId, external, status, usdPrice] of [
    ['stayed', 100, 'rejected', '100'],
    ['frozen, though it never was good', 100, 'rejected', '50'],
    ['without a feed', null, 'rejected', '7'],
    ['of the other anchors', null, 'healthy', '8'],
    ['of the chain', 100, 'healthy', null],
  ] as const) {
    await pool.query(
      'INSERT INTO price_guards (currency_id, external_price, status, published) VALUES ($1, $2, $3, $4)',
      [currencyId, external, status, usdPrice && JSON.stringify({ usdPrice })],
    );
  }
  await pool.query(migration?.sql ?? '');
  const { rows } = await pool.query('SELECT currency_id, confirmed FROM good_prices ORDER BY currency_id');
  expect(rows).toEqual([
    { currency_id: 'of the other anchors', confirmed: false },
    { currency_id: 'stayed', confirmed: true },
  ]);
});
