/** A turn that records its outcome locks its webhook, and then its delivery: other changes of deliveries wait for it, and it for none. */
import type { PoolClient } from 'pg';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { createPace } from '../../infra/pace.ts';
import { createTestStores, type TestStores } from '../../test/support/infra/test-stores.ts';
import { redrive, redriveFailed } from './delivery-store.ts';
import { enqueueEvents } from './enqueue-events.ts';
import { factsSource, type SourceRecord } from './event-source.ts';
import { createPriceCrossings } from './price-crossings.ts';
import { lockWebhooks } from './turn-queue.ts';
import { deleteWebhook } from './webhook-store.ts';

const NO_WEBHOOKS = { prepare: async () => undefined, read: async () => [] };
const CHAIN = 'c';
const OWNER = { chain: CHAIN, identityAddress: 'i' };
const HOOK = 'a'.repeat(16);
const DELIVERY = `msg_${'0'.repeat(32)}`;
const REWIND: SourceRecord = { mark: 1, kind: 'rewind', height: 4, time: null, events: [], corrected: [] };
/** Stands in for the turn queue, of which only the locks matter. */
const queue = { wake: async (client: PoolClient, ids: readonly string[]) => void (await lockWebhooks(client, ids)) };

let stores: TestStores;
beforeAll(async () => {
  stores = await createTestStores();
});
afterAll(() => stores?.close());

beforeEach(async () => {
  const { pool } = stores.postgres;
  await pool.query('TRUNCATE webhooks, webhook_deliveries, webhook_cursors, stage_positions CASCADE');
  await pool.query(
    `INSERT INTO webhooks (id, chain, identity_address, url, description, asked, confirmations, secret, since)
      VALUES ($1, $2, 'i', 'https://receiver.example', '', '{}', 0, '', '{}')`,
    [HOOK, CHAIN],
  );
  await pool.query(
    `INSERT INTO webhook_deliveries (id, webhook_id, kind, chain, height, body, state)
      VALUES ($1, $2, 'block', $3, 5, '{"type":"block","data":{}}', 'failed')`,
    [DELIVERY, HOOK, CHAIN],
  );
  await pool.query(`INSERT INTO webhook_cursors (topic, chain, position) VALUES ('facts', $1, 1)`, [CHAIN]);
  await pool.query(`INSERT INTO stage_positions VALUES ('derive', $1, 1, 4, '', 0)`, [CHAIN]);
});

async function revertByRewind(): Promise<void> {
  const source = {
    ...factsSource({ name: CHAIN, finalityDepth: 100, nativeCurrencyId: 'iNative' }),
    read: async () => [REWIND],
  };
  const pace = createPace({ sliceMs: 5, restMs: 0 });
  const rest = { topics: {} as never, activeWebhooks: NO_WEBHOOKS, pace, logger: pino({ level: 'silent' }) };
  await enqueueEvents({ ...rest, source, postgres: stores.postgres, queue });
}

async function revertByPrice(): Promise<void> {
  const sql = `INSERT INTO webhook_price_sides (webhook_id, watch, tick, hash, above, delivery_id) VALUES ($1, 0, 7, '', true, $2)`;
  await stores.postgres.pool.query(sql, [HOOK, DELIVERY]);
  await createPriceCrossings({ postgres: stores.postgres, queue, activeWebhooks: NO_WEBHOOKS })();
}

/** Whether another connection waits for a lock. */
async function isWaiting(): Promise<boolean> {
  const sql = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
  return ((await stores.postgres.pool.query(sql)).rowCount ?? 0) > 0;
}

it.each([
  ['one delivery is sent again', () => redrive(stores.postgres, queue, HOOK, DELIVERY)],
  ['all failed ones are sent again', () => redriveFailed(stores.postgres, queue, HOOK)],
  ['a reorganisation reverts deliveries', revertByRewind],
  ['a reorganisation takes the tick of a price away', revertByPrice],
  ['the webhook is deleted', () => deleteWebhook(stores.postgres, OWNER, HOOK)],
] as const)('a turn ends without a deadlock while %s', async (_, change) => {
  let changing: Promise<unknown> = Promise.resolve();
  await stores.postgres.transaction(async (client) => {
    await lockWebhooks(client, [HOOK]);
    changing = change().catch((error: unknown) => error);
    await expect.poll(isWaiting).toBe(true);
    await client.query('UPDATE webhook_deliveries SET latency_ms = 1 WHERE id = $1', [DELIVERY]);
  });
  expect(await changing).not.toBeInstanceOf(Error);
});
