/** A message about a price may be stored after the block that confirms it was read: it is released without waiting for another block. */
import { pino } from 'pino';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createPace } from '../../infra/pace.ts';
import { createTestStores, type TestStores } from '../../test/support/infra/test-stores.ts';
import { insertDeliveries } from './delivery-rows.ts';
import { enqueueEvents } from './enqueue-events.ts';
import { factsSource } from './event-source.ts';

const CHAIN = 'c';
const HOOK = 'a'.repeat(16);
const NEXT = 6;

let stores: TestStores;
beforeAll(async () => {
  stores = await createTestStores();
});
afterAll(() => stores?.close());

it('gives the webhook a turn although no record follows', async () => {
  const { pool } = stores.postgres;
  await pool.query(
    `INSERT INTO webhooks (id, chain, identity_address, url, description, asked, confirmations, secret, since)
      VALUES ($1, $2, 'i', 'https://receiver.example', '', '{}', 3, '', '{}')`,
    [HOOK, CHAIN],
  );
  await pool.query(`INSERT INTO webhook_cursors (topic, chain, position) VALUES ('facts', $1, $2)`, [CHAIN, NEXT]);
  await pool.query(`INSERT INTO stage_positions VALUES ('derive', $1, 5, 5, '', 0)`, [CHAIN]);
  const place = { chain: CHAIN, height: null, releaseHeight: 5, body: '{}', reverts: null };
  const crossing = { id: 'crossing', webhookId: HOOK, kind: 'price.threshold', ...place };
  await stores.postgres.transaction((client) => insertDeliveries(client, [crossing]));
  const woken: string[] = [];
  const enqueued = await enqueueEvents({
    source: { ...factsSource({ name: CHAIN, finalityDepth: 100, nativeCurrencyId: 'iNative' }), read: async () => [] },
    postgres: stores.postgres,
    topics: {} as never,
    queue: { wake: async (_client, ids) => void woken.push(...ids) },
    activeWebhooks: { prepare: async () => undefined, read: async () => [] },
    pace: createPace({ sliceMs: 5, restMs: 0 }),
    logger: pino({ level: 'silent' }),
  });
  expect(enqueued).toEqual({ records: 0, woken: 1, next: NEXT });
  expect((await pool.query('SELECT id, state FROM webhook_deliveries')).rows).toEqual([
    { id: 'crossing', state: 'pending' },
  ]);
  expect(woken).toEqual([HOOK]);
});
