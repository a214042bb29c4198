/** Law: messages sent and not reverted are the crossings of the current prices, whatever rewinds happen and whenever prices are checked. */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { saveStagePositions } from '../../infra/postgres/stage-positions.ts';
import { hexParam } from '../../infra/postgres/values.ts';
import { createTestStores, type TestStores } from '../../test/support/infra/test-stores.ts';
import type { ActiveWebhook } from './active-webhooks.ts';
import { forgetSides } from './forget-sides.ts';
import { createPriceCrossings } from './price-crossings.ts';
import { changeWebhook, findWebhook, type WebhookRow } from './webhook-store.ts';

const RUNS = Number(process.env.CROSSING_RUNS ?? 40);
const CURRENCY = 'iCurrency';
const THRESHOLDS = [
  { usd: '2', direction: 'both' },
  { usd: '3', direction: 'above' },
] as const;
const webhook: ActiveWebhook = {
  id: 'hook',
  confirmations: 0,
  since: -1,
  kindOf: () => null,
  hears: () => true,
  thresholds: THRESHOLDS.map((threshold) => ({ ...threshold, currency: CURRENCY, currencyId: CURRENCY })),
};

let stores: TestStores;
beforeAll(async () => {
  stores = await createTestStores();
});
afterAll(() => stores?.close());

const query = (sql: string, values: unknown[] = []) => stores.postgres.pool.query(sql, values);

/** No two blocks have the same hash. */
let blocks = 0;
async function addTick(tick: number, usd: number): Promise<void> {
  const hash = (blocks++).toString(16).padStart(64, '0');
  await query('INSERT INTO price_ticks VALUES ($1::bigint, $2, $1::int, $3, $1::bigint, 0)', [
    tick,
    'c',
    hexParam(hash),
  ]);
  await addPrice(tick, usd);
}

async function addPrice(tick: number, usd: number, currencyId = CURRENCY): Promise<void> {
  await query(
    `INSERT INTO prices VALUES (1, $1, $2::bigint, 'c', $2::int, $2::bigint, 1, $3::numeric, $3::numeric, 1, NULL, '[]')`,
    [currencyId, tick, usd],
  );
}

async function rewindTo(tick: number): Promise<void> {
  for (const table of ['prices', 'price_ticks']) await query(`DELETE FROM ${table} WHERE tick >= $1`, [tick]);
}

function lookerFor(watching: ActiveWebhook): () => Promise<number> {
  let step: ReturnType<typeof createPriceCrossings> | undefined;
  return () => {
    const { postgres } = stores;
    step ??= createPriceCrossings({
      postgres,
      queue: { wake: async () => undefined },
      activeWebhooks: { prepare: async () => undefined, read: async () => [watching] },
    });
    return step();
  };
}

/** Several processes check prices. */
const lookers = [0, 1].map(() => lookerFor(webhook));
const look = async () => (await Promise.all(lookers.map((one) => one()))).reduce((sum, due) => sum + due, 0);

const IS_TOLD = `kind = 'price.threshold' AND NOT reverted`;

/** Sorted crossings that were published and not reverted; the messages in `forgotten` have been deleted. */
async function standing(forgotten: readonly { readonly body: string }[] = []): Promise<string[]> {
  const { rows } = await query(`SELECT body FROM webhook_deliveries WHERE ${IS_TOLD}`);
  return [...forgotten, ...rows]
    .map(({ body }) => JSON.parse(body).data as { usd: number; direction: string; height: number })
    .map(({ usd, direction, height }) => `${height} ${usd} ${direction}`)
    .sort();
}

/** By threshold: the oldest tick with a stored side. */
async function firstTicks(): Promise<Map<number, number>> {
  const { rows } = await query('SELECT watch, min(tick)::int4 AS first FROM webhook_price_sides GROUP BY watch');
  return new Map(rows.map(({ watch, first }) => [watch, first]));
}

/** The crossings of the prices after the first check of each threshold. */
function expected(prices: readonly number[], firsts: ReadonlyMap<number, number>): string[] {
  return [...firsts]
    .flatMap(([watch, first]) => {
      const { usd, direction } = THRESHOLDS[watch % 1_000] ?? THRESHOLDS[0];
      return prices.flatMap((price, tick) => {
        const above = price >= Number(usd);
        if (tick <= first || above === (prices[tick - 1] ?? 0) >= Number(usd)) return [];
        return direction === 'both' || above ? [`${tick} ${usd} ${above ? 'above' : 'below'}`] : [];
      });
    })
    .sort();
}

async function begin(): Promise<void> {
  await query('TRUNCATE webhooks, webhook_deliveries, webhook_price_sides, price_ticks, prices, stage_positions');
  await query(
    `INSERT INTO webhooks (id, chain, identity_address, url, description, asked, confirmations, secret, since)
     VALUES ('hook', 'c', 'i', 'https://receiver.example', '', '{"thresholds": []}', 0, '', '{}')`,
  );
}

const price = fc.integer({ min: 1, max: 4 });
const step = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('add' as const), usd: fc.array(price, { minLength: 1, maxLength: 4 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('rewind' as const),
      depth: fc.integer({ min: 1, max: 5 }),
      // Ticks that replace them before prices are checked.
      usd: fc.array(price, { maxLength: 6 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('look' as const), ahead: fc.option(price) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('forget' as const), messages: fc.boolean() }) },
);

const CHAIN = { name: 'c', finalityDepth: 2 };
/** Blocks on top of one whose side may be forgotten. */
const DEPTH = 2 * CHAIN.finalityDepth;

/** Deletes final sides, and their messages if requested; returns the messages and the number of sides. */
async function forget(tip: number, messages: boolean): Promise<{ bodies: { body: string }[]; sides: number }> {
  await query(
    `INSERT INTO stage_positions VALUES ('price', 'c', 0, $1, '', 0) ON CONFLICT (stage, chain) DO UPDATE SET height = $1`,
    [tip],
  );
  const final = tip - DEPTH - 1;
  const isOld = `${IS_TOLD} AND (body::json #>> '{data,height}')::int <= $1`;
  const forgotten = messages
    ? await query(`DELETE FROM webhook_deliveries WHERE ${isOld} RETURNING body`, [final])
    : null;
  const count = async (most: number) =>
    (await query('SELECT FROM webhook_price_sides WHERE tick <= $1', [most])).rowCount ?? 0;
  const before = await count(tip);
  await forgetSides(stores.postgres.pool, [CHAIN]);
  if (messages) expect(await count(final)).toBeLessThanOrEqual(THRESHOLDS.length);
  return { bodies: forgotten?.rows ?? [], sides: before - (await count(tip)) };
}

it(`${RUNS} histories`, async () => {
  let forgottenSides = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 25, size: 'max' }), async (steps) => {
      await begin();
      const prices: number[] = [];
      const forgotten: { body: string }[] = [];
      /** Tick of the first check of thresholds whose first side is deleted. */
      const firsts = new Map<number, number>();
      /** Blocks that no rewind removes. */
      let final = 0;
      for (const made of [...steps, { kind: 'look' as const, ahead: null }]) {
        if (made.kind === 'look') {
          // A provisional price is beyond the newest tick and crosses nothing.
          if (made.ahead !== null) await addPrice(prices.length, made.ahead);
          await look();
          await rewindTo(prices.length);
          const { rows } = await query('SELECT DISTINCT watch FROM webhook_price_sides');
          expect(rows.length).toBe(prices.length > 0 ? THRESHOLDS.length : 0);
        } else if (made.kind === 'forget') {
          if (made.messages) await look(); // prices are checked long before messages are old enough to be deleted
          final = Math.max(final, prices.length - DEPTH);
          const before = await firstTicks();
          const { bodies, sides } = await forget(prices.length - 1, made.messages);
          forgotten.push(...bodies);
          forgottenSides += sides;
          const after = await firstTicks();
          for (const [watch, first] of before)
            if (after.get(watch) !== first && !firsts.has(watch)) firsts.set(watch, first);
        } else {
          if (made.kind === 'rewind') {
            prices.splice(Math.max(final, prices.length - made.depth));
            await rewindTo(prices.length);
          }
          for (const usd of made.usd) await addTick(prices.push(usd) - 1, usd);
        }
      }
      expect(await standing(forgotten)).toEqual(expected(prices, new Map([...(await firstTicks()), ...firsts])));
      // Each published crossing that is gone was reverted once.
      const { rows } = await query(
        `SELECT d.id FROM webhook_deliveries d WHERE reverted AND 1 <> (SELECT count(*) FROM webhook_deliveries r
           WHERE r.reverts = d.id AND r.kind = 'price.threshold.reverted')`,
      );
      expect(rows).toEqual([]);
      expect(await look()).toBe(0);
    }),
    { numRuns: RUNS },
  );
  expect(forgottenSides).toBeGreaterThan(RUNS / 4);
});

const stored = () => findWebhook(stores.postgres, { chain: 'c', identityAddress: 'i' }, 'hook') as Promise<WebhookRow>;

function change(before: WebhookRow, usd: string): ReturnType<typeof changeWebhook> {
  const thresholds = [{ currency: CURRENCY, usd, direction: 'both' as const }];
  const asked = { events: ['price.threshold' as const], chains: null, filter: {}, thresholds };
  const registration = { url: before.url, description: '', asked, confirmations: 0 };
  const queue = { wake: async () => undefined };
  return changeWebhook(stores.postgres, queue, { chain: 'c', identityAddress: 'i' }, before, {
    ...registration,
    enabled: undefined,
    rotateSecret: false,
  });
}

it('a crossing is reverted after the thresholds of its webhook were changed', async () => {
  await begin();
  const before = await stored();
  expect(await change(before, '2')).not.toBeNull();
  expect(await change(before, '7'), 'it was changed meanwhile').toBeNull();
  await addTick(0, 1);
  await look();
  await addTick(1, 4);
  await look();
  expect(await standing()).toHaveLength(2);
  expect(await change(await stored(), '3')).not.toBeNull();
  await rewindTo(1);
  await addTick(1, 1);
  await look();
  expect(await standing()).toEqual([]);
});

it('no crossing is missed after the thresholds were changed and changed back between two checks', async () => {
  await begin();
  const lookAlone = lookerFor(webhook);
  await addTick(0, 1);
  await lookAlone();
  for (const usd of ['7', '2']) expect(await change(await stored(), usd)).not.toBeNull();
  await lookAlone();
  await addTick(1, 4);
  await lookAlone();
  expect(await standing()).toEqual(['1 2 above', '1 3 above']);
});

it('a threshold whose name comes to mean another currency starts at the newest price of that currency', async () => {
  await begin();
  const other = 'iOther';
  const lookOther = lookerFor({
    ...webhook,
    thresholds: webhook.thresholds.map((threshold) => ({ ...threshold, currencyId: other })),
  });
  await addTick(0, 1);
  await look();
  await addTick(1, 4);
  await addPrice(1, 1, other);
  await look();
  await addTick(2, 4);
  await addPrice(2, 1, other);
  await lookOther();
  const ofFirst = ['1 2 above', '1 3 above'];
  expect(await standing()).toEqual(ofFirst);
  await addTick(3, 4);
  await addPrice(3, 2.5, other);
  await lookOther();
  expect(await standing()).toEqual([...ofFirst, '3 2 above']);
  await lookerFor(webhook)(); // the name means the first currency again
  await addTick(4, 1);
  await look();
  expect(await standing()).toEqual([...ofFirst, '3 2 above', '4 2 below']);
});

it('a threshold continues at the side that an earlier version stored', async () => {
  await begin();
  await addTick(0, 1);
  await look();
  await query('UPDATE webhook_price_sides SET watch = watch % 1000');
  await addTick(1, 4);
  await look();
  expect(await standing()).toEqual(['1 2 above', '1 3 above']);
});

it('a crossing does not wait for confirmations that its block has when it is priced', async () => {
  await begin();
  const lookConfirmed = lookerFor({ ...webhook, confirmations: 2 });
  await addTick(0, 1);
  await lookConfirmed();
  await addTick(1, 4); // passes both thresholds
  await addTick(2, 1); // and below one of them again
  const tip = { height: 3, hash: 'ab'.repeat(32), position: 3, clock: 3 };
  await saveStagePositions(stores.postgres.pool, [{ ...tip, stage: 'derive', chain: 'c' }]);
  expect(await lookConfirmed()).toBe(1);
  const { rows } = await query('SELECT state, release_height FROM webhook_deliveries ORDER BY serial');
  expect(rows).toEqual([
    { state: 'pending', release_height: null },
    { state: 'pending', release_height: null },
    { state: 'held', release_height: 4 },
  ]);
});
