/** An answer of a webhook's old URL no longer counts once its owner has set another one. */
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { createTestStores, type TestStores } from '../../test/support/infra/test-stores.ts';
import type { DeliveryOutcome } from './send-message.ts';
import { takeTurn } from './take-turn.ts';
import { changeWebhook, findWebhook, sendTest } from './webhook-store.ts';

const HOLDER = { chain: 'c', identityAddress: 'i' };
const HOOK = 'a'.repeat(16);
const OLD = 'https://old.example';
const NEW = 'https://new.example';
const HOURS = 3_600_000;

let stores: TestStores;
/** Where each message was sent. */
let sent: { readonly id: string; readonly url: string }[] = [];
/** Seconds until the webhook's next turn. */
let next: number | null = null;
let woken: string[] = [];
const queue = {
  wake: async (_client: unknown, ids: readonly string[]) => void woken.push(...ids),
  finish: async (_client: unknown, _turn: unknown, seconds: number | null) => {
    next = seconds;
  },
};
const query = (sql: string, values: unknown[] = []) => stores.postgres.pool.query(sql, values);

beforeAll(async () => {
  stores = await createTestStores();
});
afterAll(() => stores?.close());

beforeEach(async () => {
  sent = [];
  woken = [];
  await query('TRUNCATE webhooks, webhook_deliveries, identities, identity_tiers CASCADE');
  await query(
    `INSERT INTO identities SELECT 'c', 'i', 1, NULL, 0, 0, '', 'i', '', 'i@', '', 0, 0, '', '', '{}', 1, 1, NULL, '{}', '{}', 1`,
  );
  await query(`INSERT INTO identity_tiers (chain, identity_address, tier) VALUES ('c', 'i', 'pro')`);
  await query(
    `INSERT INTO webhooks (id, chain, identity_address, url, description, asked, confirmations, secret, since)
      VALUES ($1, 'c', 'i', $2, '', '{"events":["block"],"chains":null,"filter":{},"thresholds":[]}', 0, '', '{}')`,
    [HOOK, OLD],
  );
});

async function replace(url: string): Promise<void> {
  const before = await findWebhook(stores.postgres, HOLDER, HOOK);
  if (!before) throw new Error('there is no webhook');
  const asked = { events: ['block' as const], chains: null, filter: {}, thresholds: [] };
  const change = { url, description: '', asked, confirmations: 0, enabled: undefined, rotateSecret: false };
  expect(await changeWebhook(stores.postgres, queue, HOLDER, before, change)).not.toBeNull();
}

async function turn(answer: (url: string) => Promise<DeliveryOutcome> | DeliveryOutcome): Promise<void> {
  const sender = {
    async send({ id, url }: { readonly id: string; readonly url: string }) {
      sent.push({ id, url });
      return { outcome: await answer(url), answer: null };
    },
  };
  const { signal } = new AbortController();
  const job = { id: '', retryCount: 0 };
  await takeTurn({ postgres: stores.postgres, queue, sender, chains: ['c'], signal }, { webhookId: HOOK, job });
}

const ACCEPTED: DeliveryOutcome = { kind: 'delivered', status: 204 };
const PAUSE: DeliveryOutcome = { kind: 'failed', status: 429, error: 'answered 429', retryAfterMs: HOURS };
const states = async () => (await query('SELECT state, attempts FROM webhook_deliveries')).rows;

it('a message that the old URL accepted meanwhile is sent to the new one', async () => {
  const id = await sendTest(stores.postgres, queue, HOOK);
  await turn(async (url) => {
    if (url === OLD) await replace(NEW);
    return ACCEPTED;
  });
  expect(sent).toEqual([
    { id, url: OLD },
    { id, url: NEW },
  ]);
  expect(await states()).toEqual([{ state: 'delivered', attempts: 1 }]);
});

it('a pause that the old URL asked for ends, and waiting messages are sent to the new one at once', async () => {
  const id = await sendTest(stores.postgres, queue, HOOK);
  await turn(() => PAUSE);
  expect(next).toBeGreaterThan(1_000);
  woken = [];
  await replace(NEW);
  expect(woken).toEqual([HOOK]);
  const webhook = await query('SELECT held_until, failing_since FROM webhooks');
  expect(webhook.rows).toEqual([{ held_until: null, failing_since: null }]);
  await turn(() => ACCEPTED);
  expect(sent.at(-1)).toEqual({ id, url: NEW });
  expect(await states()).toEqual([{ state: 'delivered', attempts: 2 }]);
});

it('any other change keeps the pause', async () => {
  await sendTest(stores.postgres, queue, HOOK);
  await turn(() => PAUSE);
  woken = [];
  await replace(OLD);
  await turn(() => ACCEPTED);
  expect([sent.length, woken]).toEqual([1, []]);
});
