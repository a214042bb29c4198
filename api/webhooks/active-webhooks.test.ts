/** Which webhooks get deliveries, and which are sent them: the two differ only while the owner's chain is derived again. */
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { IDENTITY_FLAGS } from '../../domain/flags.ts';
import type { Pace } from '../../infra/pace.ts';
import { storeIdentity } from '../../test/support/api/access/store-identity.ts';
import { createTestStores, type TestStores } from '../../test/support/infra/test-stores.ts';
import { type ActiveWebhooksOptions, createActiveWebhooks, mayReceiveSql } from './active-webhooks.ts';

const NAMES: ActiveWebhooksOptions['names'] = { idsOf: () => [], refresh: () => null, version: () => 0 };
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

const activeOf = (chains: readonly string[], names = NAMES, pace?: Pace) =>
  createActiveWebhooks({
    chains,
    postgres: stores.postgres,
    names,
    logger: pino({ level: 'silent' }),
    ...(pace && { pace }),
  });

/** Whether events become deliveries of the webhook, and whether deliveries are sent. */
async function hears(chains = ['c']): Promise<{ given: boolean; sent: boolean }> {
  const active = activeOf(chains);
  const given = await stores.postgres.transaction((client) => active.read(client, null));
  const { rowCount } = await query(`SELECT FROM webhooks w WHERE ${mayReceiveSql('$1')}`, [chains]);
  return { given: given.length === 1, sent: rowCount === 1 };
}

const ENDS: readonly [string, () => Promise<unknown>][] = [
  ['disabled', () => query('UPDATE webhooks SET enabled = false')],
  ['of an identity of another tier', () => query(`UPDATE identity_tiers SET tier = 'developer'`)],
  ['of an identity without a tier', () => query('DELETE FROM identity_tiers')],
  ['of a revoked identity', () => storeIdentity(stores.postgres, { ...OWNER, flags: IDENTITY_FLAGS.REVOKED })],
];

it('a webhook with a valid owner gets deliveries, and is sent them', async () => {
  expect(await hears()).toEqual({ given: true, sent: true });
});

it.each(ENDS)('a webhook that is %s gets no deliveries, and is sent none', async (_, end) => {
  await end();
  expect(await hears()).toEqual({ given: false, sent: false });
});

it('a webhook of a chain that is not configured gets no deliveries, and is sent none', async () => {
  expect(await hears(['other'])).toEqual({ given: false, sent: false });
});

it('a webhook whose owner is not derived yet gets deliveries, and is sent them later', async () => {
  await query('DELETE FROM identities');
  expect(await hears()).toEqual({ given: true, sent: false });
  await storeIdentity(stores.postgres, { ...OWNER, flags: 0 });
  expect(await hears()).toEqual({ given: true, sent: true });
});

const NOTHING_NAMED = { events: ['block'], chains: null, filter: {}, thresholds: [] };
const THRESHOLD = { currency: 'DAI', usd: '1', direction: 'both' };

async function register(asked: readonly object[]): Promise<void> {
  await query('TRUNCATE webhooks CASCADE');
  await query(
    `INSERT INTO webhooks (id, chain, identity_address, url, description, asked, confirmations, secret, since)
     SELECT 'hook ' || at, 'c', 'i', 'https://receiver.example', '', asked, 0, '', '{}'
     FROM unnest($1::json[]) WITH ORDINALITY AS made(asked, at)`,
    [asked.map((one) => JSON.stringify(one))],
  );
}

it('a name means the currency that has it now, whenever the webhook was registered', async () => {
  await register([{ ...NOTHING_NAMED, events: ['price.threshold'], thresholds: [THRESHOLD] }]);
  const [before, after] = ['iJhCezBExJHvtyH3fGhNnt2NhU4Ztkf2yq', 'iL61AyTw6Td3khQNE7oFGoH6cfM3mpxLXQ'];
  let version = 0;
  const active = activeOf(['c'], {
    ...NAMES,
    idsOf: () => [version === 0 ? before : after],
    version: () => version,
  });
  const meant = async () => {
    await active.prepare();
    const webhooks = await stores.postgres.transaction((client) => active.read(client, null));
    return webhooks.flatMap(({ thresholds }) => thresholds.map(({ currencyId }) => currencyId));
  };
  expect([await meant(), await meant()]).toEqual([[before], [before]]);
  version += 1;
  expect(await meant()).toEqual([after]);
});

it('only webhooks with currency names are compiled again for another directory, before the transaction and with rests', async () => {
  await register([
    { ...NOTHING_NAMED, filter: { identity: 'identity', currency: 'iJhCezBExJHvtyH3fGhNnt2NhU4Ztkf2yq' } },
    { ...NOTHING_NAMED, filter: { currency: 'first' } },
    { ...NOTHING_NAMED, filter: { basket: ['second'] } },
    { ...NOTHING_NAMED, events: ['price.threshold'], thresholds: [{ ...THRESHOLD, currency: 'third' }] },
  ]);
  let version = 0;
  /** Names that were looked up, and rests, in order. */
  let done: string[] = [];
  const names: ActiveWebhooksOptions['names'] = {
    idsOf: (text) => {
      done.push(text);
      return ['iL61AyTw6Td3khQNE7oFGoH6cfM3mpxLXQ'];
    },
    refresh: () => null,
    version: () => version,
  };
  const rest = async () => {
    done.push('rest');
  };
  const active = activeOf(['c'], names, { sliceMs: 0, isSpent: () => true, rest });
  await active.prepare();
  expect(done).toContain('identity');
  done = [];
  version += 1;
  await Promise.all([active.prepare(), active.prepare()]); // by the readers of several topics
  expect(done).toEqual(['rest', 'first', 'rest', 'second', 'rest', 'third']);
  const webhooks = await stores.postgres.transaction((client) => active.read(client, null));
  await active.prepare();
  expect([webhooks.length, done.length]).toEqual([4, 6]);
});
