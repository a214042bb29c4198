/** The sweep deletes old deliveries and wakes the webhooks that may still receive. */
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { IDENTITY_FLAGS } from '../../domain/flags.ts';
import type { Config } from '../../schemas/config.ts';
import { createTestStores, type TestStores } from '../../test/support/infra/test-stores.ts';
import { dropBacklogs } from './backlog.ts';
import { insertDeliveries, resyncOf } from './delivery-rows.ts';
import { sweep } from './sweep.ts';

const CHAIN = 'c';
const FINALITY = 10;
const HOOKS = ['a', 'b'];
const CHAINS = [{ name: CHAIN, finalityDepth: FINALITY }] as unknown as Config['chains'];

let stores: TestStores;
let woken: string[] = [];
const queue = { wake: async (_client: unknown, ids: readonly string[]) => void woken.push(...ids) };
const query = (sql: string, values: unknown[] = []) => stores.postgres.pool.query(sql, values);

beforeAll(async () => {
  stores = await createTestStores();
});
afterAll(() => stores?.close());

beforeEach(async () => {
  woken = [];
  await query(
    'TRUNCATE webhooks, webhook_deliveries, stage_positions, price_ticks, identities, identity_tiers CASCADE',
  );
  await query(
    `INSERT INTO identities SELECT $1, 'i', 1, NULL, 0, 0, '', 'i', '', 'i@', '', 0, 0, '', '', '{}', 1, 1, NULL, '{}', '{}', 1`,
    [CHAIN],
  );
  await query(`INSERT INTO identity_tiers (chain, identity_address, tier) VALUES ($1, 'i', 'pro')`, [CHAIN]);
  for (const id of HOOKS) {
    await query(
      `INSERT INTO webhooks (id, chain, identity_address, url, description, asked, confirmations, secret, since)
        VALUES ($1, $2, 'i', 'https://receiver.example', '', '{}', 0, '', '{}')`,
      [id, CHAIN],
    );
  }
});

interface Made {
  readonly id: string;
  readonly state?: string;
  readonly topic?: string;
  readonly height?: number;
  readonly days?: number;
  readonly body?: string;
  readonly chain?: string;
}

async function deliver(webhook: string, made: readonly Made[]): Promise<void> {
  for (const one of made) {
    const { id, state = 'pending', topic = 'facts', height = 5, days = 0, body = '{}', chain = CHAIN } = one;
    await query(
      `INSERT INTO webhook_deliveries (id, webhook_id, kind, topic, chain, height, body, state, next_attempt_at, created_at)
        VALUES ($1, $2, 'block', $3, $4, $5, $6, $7, now(), now() - make_interval(days => $8))`,
      [id, webhook, topic, chain, height, body, state, days],
    );
  }
}

const left = async (): Promise<string[]> =>
  (await query('SELECT id FROM webhook_deliveries ORDER BY serial')).rows.map(({ id }) => id);
const silent = pino({ level: 'silent' });
const swept = () => sweep(stores.postgres, queue, CHAINS, silent);

it('deletes old deliveries, except those that a rewind or the clock of another chain may still revert', async () => {
  await query(`INSERT INTO stage_positions VALUES ('derive', $1, 1, 1000, '', 0), ('price', $1, 1, 500, '', 0)`, [
    CHAIN,
  ]);
  await deliver('a', [
    { id: 'old', state: 'delivered', height: 900, days: 8 },
    { id: 'young', state: 'delivered', height: 900, days: 6 },
    { id: 'near the tip', state: 'delivered', height: 995, days: 8 },
    { id: 'of a value that is complete', state: 'failed', topic: 'stamps', height: 500, days: 8 },
    { id: 'of a value that waits for another chain', state: 'delivered', topic: 'stamps', height: 501, days: 8 },
  ]);
  await swept();
  expect(await left()).toEqual(['young', 'near the tip', 'of a value that waits for another chain']);
});

it('deletes old held deliveries of a chain that is no longer configured, too', async () => {
  await query(
    `INSERT INTO stage_positions VALUES ('derive', 'gone', 1, 1000, '', 0), ('price', 'gone', 1, 1000, '', 0)`,
  );
  const gone = { chain: 'gone', days: 8 };
  await deliver('a', [
    { id: 'old', state: 'delivered', height: 900, ...gone },
    { id: 'young', state: 'delivered', height: 900, ...gone, days: 6 },
    { id: 'near the tip', state: 'delivered', height: 995, ...gone },
    { id: 'held', state: 'held', height: 999, ...gone },
    { id: 'held a while', state: 'held', height: 999, ...gone, days: 6 },
    { id: 'due', height: 999, ...gone },
    { id: 'held of a chain that is configured', state: 'held', height: 999, days: 8 },
  ]);
  await swept();
  expect(await left()).toEqual(['young', 'near the tip', 'held a while', 'due', 'held of a chain that is configured']);
});

it('deliveries to an owner on a chain that is no longer configured are not sent, and deleted when old', async () => {
  await deliver('a', [{ id: 'waits' }, { id: 'has long waited', days: 8 }]);
  for (const table of ['webhooks', 'identities', 'identity_tiers']) await query(`UPDATE ${table} SET chain = 'gone'`);
  await swept();
  expect([woken, await left()]).toEqual([[], ['waits']]);
});

it('deletes old deliveries that wait for a disabled webhook, and no other waiting ones', async () => {
  await deliver('a', [{ id: 'waits' }, { id: 'has long waited', days: 30 }]);
  await deliver('b', [
    { id: 'of one that is off', days: 6 },
    { id: 'of one that has long been off', days: 8 },
  ]);
  await query(`UPDATE webhooks SET enabled = false WHERE id = 'b'`);
  await swept();
  expect(await left()).toEqual(['waits', 'has long waited', 'of one that is off']);
});

const LOSSES = [
  ['is revoked', `UPDATE identities SET flags = ${IDENTITY_FLAGS.REVOKED}`, 'UPDATE identities SET flags = 0'],
  ['has lost its tier', `UPDATE identity_tiers SET tier = 'free'`, `UPDATE identity_tiers SET tier = 'pro'`],
] as const;

it.each(LOSSES)('an identity that %s is sent no waiting deliveries until that ends', async (_, lose, regain) => {
  await deliver('a', [{ id: 'waits' }]);
  await query(lose);
  await swept();
  expect(woken).toEqual([]);
  await query(regain);
  await swept();
  expect(woken).toEqual(['a']);
});

it.each(LOSSES)('deletes old deliveries that wait for an identity that %s', async (_, lose, regain) => {
  await deliver('a', [
    { id: 'waits', days: 6 },
    { id: 'has long waited', days: 8 },
  ]);
  await query(lose);
  await swept();
  await query(regain);
  await swept();
  expect([woken, await left()]).toEqual([['a'], ['waits']]);
});

it('keeps old deliveries while the identity is missing because its chain is derived again', async () => {
  await deliver('a', [{ id: 'has long waited', days: 8 }]);
  await query('DELETE FROM identities');
  await swept();
  expect([woken, await left()]).toEqual([[], ['has long waited']]);
});

it.each([
  ['number', { deliveries: 3, bytes: 1e9 }],
  ['size', { deliveries: 1e9, bytes: 39 }],
])(
  'above a bound on %s the deliveries that wait for a receiver are dropped, and it gets a resync for each chain',
  async (_, bounds) => {
    const body = 'x'.repeat(10);
    const waiting = ['1', '2', '3', '4'].map((id) => ({ id, state: id === '4' ? 'held' : 'pending', body }));
    await deliver('a', [...waiting, { id: 'delivered', state: 'delivered' }]);
    await deliver(
      'b',
      waiting.slice(1).map((made) => ({ ...made, id: `b${made.id}` })),
    );
    expect(await dropBacklogs(stores.postgres, queue, bounds)).toEqual(['a']);
    const { rows } = await query(
      'SELECT id, webhook_id, kind, chain, state, body FROM webhook_deliveries ORDER BY serial',
    );
    expect(rows.map(({ id }) => id)).toEqual(['delivered', 'b2', 'b3', 'b4', expect.stringMatching(/^msg_/)]);
    expect(rows.at(-1)).toMatchObject({ webhook_id: 'a', kind: 'resync', chain: CHAIN, state: 'pending' });
    expect(JSON.parse(rows.at(-1).body)).toMatchObject({ type: 'resync', chain: CHAIN, data: { reason: 'backlog' } });
    expect(woken).toEqual(['a']);
  },
);

it('writes any number of deliveries in their order, in parts', async () => {
  const made = Array.from({ length: 2_500 }, (_, index) => ({
    ...resyncOf('a', CHAIN, 'log_gap'),
    id: `${index}`,
    body: 'x'.repeat(index % 1_000 === 0 ? 9_000_000 : 10),
  }));
  await stores.postgres.transaction((client) => insertDeliveries(client, made));
  expect(await left()).toEqual(made.map(({ id }) => id));
});

/** Stores a side of the first webhook. `message`: whether its delivery exists, is gone, or never existed. */
async function side(watch: number, tick: number, message: 'held' | 'gone' | null = null): Promise<void> {
  const id = message && `${watch} at ${tick}`;
  if (id !== null && message === 'held') await deliver('a', [{ id }]);
  await query(`INSERT INTO webhook_price_sides SELECT 'a', $1, $2, hash, true, $3 FROM price_ticks WHERE tick = $2`, [
    watch,
    tick,
    id,
  ]);
}

const ticksOf = async (watch: number): Promise<number[]> => {
  const sql = 'SELECT tick::int4 FROM webhook_price_sides WHERE watch = $1 ORDER BY tick';
  return (await query(sql, [watch])).rows.map(({ tick }) => tick);
};

it('deletes threshold sides that no rewind needs, except where each price was last, and those with a message', async () => {
  await query(`INSERT INTO stage_positions VALUES ('price', $1, 1, 1000, '', 0)`, [CHAIN]);
  await query(
    `INSERT INTO price_ticks SELECT tick, $1, tick, decode(lpad(to_hex(tick), 64, '0'), 'hex'), tick, 0
      FROM generate_series(1, 1000) AS tick`,
    [CHAIN],
  );
  // 980 is final, with twice the finality depth on top of it.
  for (const tick of [100, 200, 400, 990]) await side(0, tick);
  await side(0, 300, 'held');
  for (const tick of [100, 200, 300]) await side(1, tick, 'gone');
  for (const tick of [978, 979, 980]) await side(2, tick);
  await side(-1_000, 100, 'held');
  await side(-1_000, 990, 'gone');
  await sweep(stores.postgres, queue, [...CHAINS, { ...CHAINS[0], name: 'new' } as (typeof CHAINS)[number]], silent);
  expect(await ticksOf(1), 'nothing is final while a chain has no prices').toEqual([100, 200, 300]);
  await swept();
  expect(await ticksOf(0)).toEqual([200, 300, 400, 990]);
  expect(await ticksOf(1)).toEqual([300]);
  // Another chain may have a tick at the clock of the final block, which a rewind to this block undoes.
  expect(await ticksOf(2)).toEqual([979, 980]);
  expect(await ticksOf(-1_000)).toEqual([100]);
});
