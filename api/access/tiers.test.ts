/** A tier granted on one chain holds on that chain alone, even where another chain has an identity with the same i-address. */
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readMigrations } from '../../infra/migrations.ts';
import type { AccessTier } from '../../schemas/config.ts';
import { storeIdentity } from '../../test/support/api/access/store-identity.ts';
import { createTestStores, type TestStores } from '../../test/support/infra/test-stores.ts';
import { createActiveWebhooks } from '../webhooks/active-webhooks.ts';
import { createGate } from './gate.ts';
import { activeKeys, createKey, type KeyOwner, setTier, tierOf } from './key-store.ts';
import { createLimiter } from './limiter.ts';
import { createPostgresLedger } from './postgres-ledger.ts';
import { readKey } from './tokens.ts';

const ADDRESS = 'i5f5njYtso65186mo5WHMkRme9YG6hrZE2';
const REVOKED = 0x8000;
const TIERS = { free: { creditsPerMinute: 60 }, developer: { creditsPerMinute: 150 }, pro: { creditsPerMinute: 500 } };
const at = (chain: string, identityAddress = ADDRESS): KeyOwner => ({ chain, identityAddress });

const CHAINS = ['one', 'two'];
let stores: TestStores;
beforeAll(async () => {
  stores = await createTestStores();
});
beforeEach(async () => {
  const { pool } = stores.postgres;
  await pool.query('TRUNCATE identities, identity_tiers, api_keys, allowances, webhooks CASCADE');
  for (const chain of CHAINS) await storeIdentity(stores.postgres, { ...at(chain), flags: 0 });
});
afterAll(() => stores.close());

async function issue(holder: KeyOwner): Promise<string> {
  const made = await createKey(stores.postgres, holder, 'bot');
  if (!made) throw new Error('no more keys');
  return made.key;
}
const activeKey = async (key: string) => (await activeKeys(stores.postgres, [readKey(key)?.id ?? ''], CHAINS))[0];

describe('a tier', () => {
  it('belongs to the identity of one chain', async () => {
    const [one, two] = [await issue(at('one')), await issue(at('two'))];
    await setTier(stores.postgres, at('one'), 'pro');
    expect([(await activeKey(one))?.tier, (await activeKey(two))?.tier]).toEqual(['pro', 'free']);
    await setTier(stores.postgres, at('two'), 'developer');
    expect([await tierOf(stores.postgres, at('one')), await tierOf(stores.postgres, at('two'))]).toEqual([
      'pro',
      'developer',
    ]);
  });

  it('of an identity that its chain revoked cannot be used, although the identity is active on the other chain', async () => {
    const [one, two] = [await issue(at('one')), await issue(at('two'))];
    await setTier(stores.postgres, at('one'), 'pro');
    await storeIdentity(stores.postgres, { ...at('one'), flags: REVOKED });
    expect(await activeKey(one)).toBeUndefined();
    expect((await activeKey(two))?.tier).toBe('free');
  });
});

it('a webhook is active by the tier of its own chain', async () => {
  const { pool } = stores.postgres;
  for (const chain of ['one', 'two']) {
    await pool.query(
      `INSERT INTO webhooks (id, chain, identity_address, url, description, asked, confirmations, secret, since)
       VALUES ($1, $1, $2, '', '', '{"events":["block"],"chains":null,"filter":{},"thresholds":[]}', 0, '', '{}')`,
      [chain, ADDRESS],
    );
  }
  const webhooks = createActiveWebhooks({
    chains: ['one', 'two'],
    postgres: stores.postgres,
    names: { idsOf: () => [], refresh: () => null, version: () => 0 },
    logger: pino({ level: 'silent' }),
  });
  const webhookNames = () =>
    stores.postgres.transaction(async (client) => (await webhooks.read(client, null)).map(({ id }) => id));
  await setTier(stores.postgres, at('one'), 'pro');
  expect(await webhookNames()).toEqual(['one']);
  await storeIdentity(stores.postgres, { ...at('one'), flags: REVOKED });
  expect(await webhookNames()).toEqual([]);
});

it('credits are counted by chain, over all processes', async () => {
  const processOf = (name: string) => {
    const ledger = createPostgresLedger(stores.postgres);
    const limiter = createLimiter({ ledger, process: name, now: () => 1_000_000, members: () => 2 });
    const usage = { record: () => () => undefined };
    const find = async ({ id }: { id: string }) => (await activeKeys(stores.postgres, [id], CHAINS))[0] ?? null;
    const keys = { known: () => undefined, find };
    return createGate({ config: { tiers: TIERS, keylessRequestsPerMinute: 100 }, limiter, keys, usage });
  };
  const gates = [processOf('a'), processOf('b')];
  const [one, two] = [await issue(at('one')), await issue(at('two'))];
  await setTier(stores.postgres, at('one'), 'pro');
  const passes = async (key: string, credits: number, process = 0) => {
    const visitor = { network: '192.0.2.1', bearer: key, apiKey: '' };
    return (await gates[process]?.rest(visitor, { template: '/', credits }))?.refusal?.code ?? 'passed';
  };
  expect(await passes(two, 60)).toBe('passed');
  expect([await passes(two, 1), await passes(two, 1, 1)]).toEqual(['rate_limited', 'rate_limited']);
  expect(await passes(one, 400, 1)).toBe('passed'); // no credit of it was spent on the other chain
});

describe('the migration of tiers that were stored by i-address alone', () => {
  const OTHER = 'iJTXkADsq64gCcSYdGXgHHJyLrfH6p7Fq5';
  const NOWHERE = 'iJhCezBExJHvtyH3fGhNnt2NhU4Ztkf2yq';
  const days = (ago: number) => `now() - interval '${ago} days'`;
  let migrated: TestStores;
  const tier = (chain: string, address: string) => tierOf(migrated.postgres, at(chain, address));

  it.each<
    [string, { keys?: [chain: string, ago: number, revoked?: boolean][]; known?: string[] }, [AccessTier, AccessTier]]
  >([
    [
      'assigns a tier to the chain of the first key of its identity',
      {
        keys: [
          ['two', 1],
          ['one', 2],
        ],
        known: ['one', 'two'],
      },
      ['pro', 'free'],
    ],
    [
      'even if that key is revoked',
      {
        keys: [
          ['two', 1],
          ['one', 2, true],
        ],
        known: ['two'],
      },
      ['pro', 'free'],
    ],
    ['else to the only chain that knows the identity', { known: ['two'] }, ['free', 'pro']],
    ['else to no chain, so the operator must grant it again', { known: ['one', 'two'] }, ['free', 'free']],
    ['and to no chain if none knows the identity', {}, ['free', 'free']],
  ])('%s', async (_, { keys = [], known = [] }, expected) => {
    migrated = await createTestStores();
    const { pool } = migrated.postgres;
    await pool.query('DROP TABLE identity_tiers, daemon_wallets');
    await pool.query('CREATE TABLE identity_tiers (identity_address text PRIMARY KEY, tier text NOT NULL)');
    await pool.query("INSERT INTO identity_tiers VALUES ($1, 'pro'), ($2, 'developer')", [OTHER, NOWHERE]);
    for (const [index, [chain, ago, revoked]] of keys.entries()) {
      await pool.query(
        `INSERT INTO api_keys (id, chain, identity_address, name, secret_sha256, created_at, revoked_at)
         VALUES ($1, $2, $3, 'bot', '\\x00', ${days(ago)}, ${revoked ? 'now()' : 'NULL'})`,
        [String(index), chain, OTHER],
      );
    }
    for (const chain of known) await storeIdentity(migrated.postgres, { ...at(chain, OTHER), flags: 0 });
    const migration = (await readMigrations('postgres')).find(({ name }) => name === '0018-who-may-do-what.sql');
    await pool.query(migration?.sql ?? 'missing');
    expect([await tier('one', OTHER), await tier('two', OTHER)]).toEqual(expected);
    expect([await tier('one', NOWHERE), await tier('two', NOWHERE)]).toEqual(['free', 'free']);
    await migrated.close();
  });
});
