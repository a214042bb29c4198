/** Whose webhooks are given what happens, and whose are sent it: differently only while the owner's chain is derived again. */
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { IDENTITY_FLAGS } from '../../domain/flags.ts';
import { storeIdentity } from '../../test/support/api/access/store-identity.ts';
import { createTestStores, type TestStores } from '../../test/support/infra/test-stores.ts';
import { createActiveWebhooks, mayReceiveSql } from './active-webhooks.ts';

const NAMES = { idsOf: () => [], version: () => 0 };
const OWNER = { chain: 'c', identityAddress: 'i' };

let stores: TestStores;
beforeAll(async () => {
  stores = await createTestStores();
});
afterAll(() => stores?.close());

const query = (sql: string, values: unknown[] = []) => stores.postgres.pool.query(sql, values);

beforeEach(async () => {
  await query('TRUNCATE webhooks, identities, identity_tiers CASCADE');
  await query(
    `INSERT INTO webhooks (id, chain, identity_address, url, description, asked, confirmations, secret, since)
     VALUES ('hook', 'c', 'i', 'https://receiver.example', '', $1, 0, '', '{}')`,
    [JSON.stringify({ events: ['block'], chains: null, filter: {}, thresholds: [] })],
  );
  await query(`INSERT INTO identity_tiers (chain, identity_address, tier) VALUES ('c', 'i', 'pro')`);
  await storeIdentity(stores.postgres, { ...OWNER, flags: 0 });
});

/** Whether what happens becomes messages of it, and whether they are sent. */
async function hears(chains = ['c']): Promise<{ given: boolean; sent: boolean }> {
  const active = createActiveWebhooks(chains, NAMES, pino({ level: 'silent' }));
  const given = await stores.postgres.transaction((client) => active(client, null));
  const { rowCount } = await query(`SELECT FROM webhooks w WHERE ${mayReceiveSql('$1')}`, [chains]);
  return { given: given.length === 1, sent: rowCount === 1 };
}

const ENDS: readonly [string, () => Promise<unknown>][] = [
  ['disabled', () => query('UPDATE webhooks SET enabled = false')],
  ['of an identity of another tier', () => query(`UPDATE identity_tiers SET tier = 'developer'`)],
  ['of an identity without a tier', () => query('DELETE FROM identity_tiers')],
  ['of a revoked identity', () => storeIdentity(stores.postgres, { ...OWNER, flags: IDENTITY_FLAGS.REVOKED })],
];

it('one whose owner stands has both', async () => {
  expect(await hears()).toEqual({ given: true, sent: true });
});

it.each(ENDS)('one that is %s has neither', async (_, end) => {
  await end();
  expect(await hears()).toEqual({ given: false, sent: false });
});

it('one of a chain that is not configured has neither', async () => {
  expect(await hears(['other'])).toEqual({ given: false, sent: false });
});

it('one whose owner is not derived yet is given what happens, and sent it later', async () => {
  await query('DELETE FROM identities');
  expect(await hears()).toEqual({ given: true, sent: false });
  await storeIdentity(stores.postgres, { ...OWNER, flags: 0 });
  expect(await hears()).toEqual({ given: true, sent: true });
});

it('a name means the currency that has it now, whenever it was registered', async () => {
  const asked = {
    events: ['price.threshold'],
    chains: null,
    filter: {},
    thresholds: [{ currency: 'DAI', usd: '1', direction: 'both' }],
  };
  await query('UPDATE webhooks SET asked = $1', [JSON.stringify(asked)]);
  const [before, after] = ['iJhCezBExJHvtyH3fGhNnt2NhU4Ztkf2yq', 'iL61AyTw6Td3khQNE7oFGoH6cfM3mpxLXQ'];
  let version = 0;
  const names = { idsOf: () => [version === 0 ? before : after], version: () => version };
  const active = createActiveWebhooks(['c'], names, pino({ level: 'silent' }));
  const meant = async () => {
    const webhooks = await stores.postgres.transaction((client) => active(client, null));
    return webhooks.flatMap(({ thresholds }) => thresholds.map(({ currencyId }) => currencyId));
  };
  expect([await meant(), await meant()]).toEqual([[before], [before]]);
  version += 1;
  expect(await meant()).toEqual([after]);
});
