/** A conversion without a known payout, through the stage: both stores and the topic show the same outcome. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventsOfStamps } from '../../api/push/events-of-stamps.ts';
import { createPriceWorld, type PriceWorld } from '../../test/support/pipeline/price/price-world.ts';
import { readThrough, stampsTopic } from '../../test/support/pipeline/price/published-topic.ts';
import { blockOf, slowChains } from '../../test/support/pipeline/price/slow-chains.ts';

const { first, second, chains } = slowChains();
/** A time between the unpaid conversions that are far off the market. */
const cutover = blockOf(first.find(({ height }) => height === 480)).time;

let world: PriceWorld;
beforeAll(async () => {
  world = await createPriceWorld({ chains, cutover, minBasketDepthUsd: 1000 });
  await world.feeds[0]?.append(first);
  await world.feeds[1]?.append(second);
  await world.run({ maxTicks: 100 });
});
afterAll(() => world.close());

interface Row {
  readonly key: string;
  readonly importHeight: number;
  readonly isBackfill: boolean;
}

async function unpaid(isStamped: boolean): Promise<Row[]> {
  const { rows } = await world.stores.postgres.pool.query<Row>(
    `SELECT chain || ' ' || encode(txid, 'hex') || ':' || vout AS key, import_height AS "importHeight",
       import_time < $1 AS "isBackfill"
     FROM transfers t WHERE status = 'unmatched' AND EXISTS (SELECT FROM stamps s
       WHERE s.chain = t.chain AND s.txid = t.txid AND s.vout = t.vout) = $2 ORDER BY key`,
    [cutover, isStamped],
  );
  return rows;
}

it('is stamped only when it was executed far off the market and before the cutover', async () => {
  const [stamped, left] = [await unpaid(true), await unpaid(false)];
  expect(new Set(stamped.map(({ importHeight }) => importHeight))).toEqual(new Set([299, 477]));
  expect(stamped.every(({ isBackfill }) => isBackfill)).toBe(true);
  expect(left.some(({ isBackfill }) => isBackfill)).toBe(true);
  expect(left.some(({ isBackfill, importHeight }) => !isBackfill && importHeight === 485)).toBe(true);
});

it('has no USD, no height of a price, and is not provisional; in ClickHouse it is refunded', async () => {
  const { rows } = await world.stores.postgres.pool.query(
    `SELECT chain || ' ' || encode(txid, 'hex') || ':' || vout AS key, regime, rule, price_height, from_usd, to_usd, usd_value,
       priced_currency_id, diverged, provisional FROM stamps WHERE reason = 'no_delivery' ORDER BY key`,
  );
  const nothing = { price_height: null, from_usd: null, to_usd: null, usd_value: null, priced_currency_id: null };
  const stamp = { regime: 'backfill', rule: 'unpriced', ...nothing, diverged: false, provisional: false };
  expect(rows).toEqual((await unpaid(true)).map(({ key }) => ({ key, ...stamp })));
  const held = await world.stores.clickhouse.query(
    `SELECT concat(chain, ' ', txid, ':', toString(vout)) AS key, status, amount_out FROM conversions
     WHERE reason = 'no_delivery' ORDER BY key`,
  );
  expect(held).toEqual(rows.map(({ key }) => ({ key, status: 'refunded', amount_out: null })));
  const unmatched = await world.stores.clickhouse.query(`SELECT 1 FROM conversions WHERE status = 'unmatched'`);
  expect(unmatched).toEqual([]);
});

it('is published as refunded, with the reason', async () => {
  const published: string[] = [];
  for (const { name } of chains) {
    for (const record of readThrough(await stampsTopic(world.log, name))) {
      for (const event of eventsOfStamps(name, record).filter(({ type }) => type === 'conversion')) {
        const { txid, vout, status, reason, usdValue } = JSON.parse(event.data());
        expect(status).not.toBe('unmatched');
        if (reason === 'no_delivery') published.push([name, `${txid}:${vout}`, status, usdValue].join(' '));
      }
    }
  }
  expect(published.sort()).toEqual((await unpaid(true)).map(({ key }) => `${key} refunded `));
});
