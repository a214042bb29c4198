/** Reads the derived prices for the guard, and writes the guard's tables. */
import type { PoolClient } from 'pg';
import { formatDecimal, parsePrice } from '../../domain/decimal.ts';
import { readRows } from '../../infra/postgres/read-rows.ts';
import { countWrite } from '../../infra/postgres/stage-positions.ts';
import { columns, rowReader } from '../../infra/row-reader.ts';
import { readPublishedPrice } from '../../infra/stored-json/prices.ts';
import { DEVIATION_DECIMALS, type GuardVerdict } from '../../processors/pricing/price-guard.ts';
import { ALL_CHAINS } from '../../schemas/stages.ts';
import type { ExternalPrice } from './external-prices.ts';
import { type PublishedPrice, publishedPrice } from './published-price.ts';

export interface GuardRow {
  readonly currencyId: string;
  readonly external: ExternalPrice | null;
  readonly verdict: GuardVerdict<PublishedPrice>;
}

/** The price of a currency that was published when it was last found good. */
export interface GoodPrice {
  readonly price: PublishedPrice;
  /** Whether a feed has confirmed it: then only another confirmed price replaces it. */
  readonly isConfirmed: boolean;
}

/** `row`: JSON text. */
const readDerived = rowReader({ currency_id: columns.text, row: columns.text });

/** Newest price of every currency of the served generation; its height and EMA are those of its newest step. */
export async function readDerivedPrices(
  client: PoolClient,
  defaultChain: string,
): Promise<ReadonlyMap<string, PublishedPrice>> {
  const rows = await readRows(
    client,
    readDerived,
    `SELECT p.currency_id, jsonb_build_object('tier', p.tier, 'usdPrice', p.usd_price::text,
       'emaPrice', coalesce(step.ema_price, p.ema_price)::text, 'totalDepth', p.total_depth::text,
       'sourceBasket', p.source_basket, 'baskets', p.baskets, 'height', coalesce(step.height, p.height),
       'time', coalesce(step.time, p.time)) AS row
     FROM (SELECT DISTINCT ON (currency_id) * FROM prices
       WHERE generation = (SELECT generation FROM generations WHERE served) ORDER BY currency_id, tick DESC) AS p
     LEFT JOIN LATERAL (SELECT ema_price, height, time FROM prices AS s WHERE s.generation = p.generation
       AND s.currency_id = p.currency_id AND s.chain = $1 ORDER BY s.tick DESC LIMIT 1) AS step ON true`,
    [defaultChain],
  );
  return new Map(rows.map(({ currency_id, row }) => [currency_id, publishedPrice(readPublishedPrice(row))]));
}

export interface KeptGuards {
  readonly external: Map<string, ExternalPrice>;
  readonly good: Map<string, GoodPrice>;
}

const readExternal = rowReader({
  currency_id: columns.text,
  external_price: columns.text,
  source: columns.text,
  checked_ms: columns.number,
});
/** `price`: JSON text. */
const readGood = rowReader({ currency_id: columns.text, price: columns.text, confirmed: columns.boolean });

/** Reads what an earlier guard knew. External prices of currencies that are no longer in `asked` do not count. */
export async function readGuards(client: Pick<PoolClient, 'query'>, asked: readonly string[]): Promise<KeptGuards> {
  const external = await readRows(
    client,
    readExternal,
    `SELECT currency_id, external_price, source, (extract(epoch FROM checked_at) * 1000)::float8 AS checked_ms
     FROM price_guards WHERE external_price IS NOT NULL AND currency_id = ANY($1)`,
    [asked],
  );
  const good = await readRows(
    client,
    readGood,
    'SELECT currency_id, price, confirmed AND currency_id = ANY($1) AS confirmed FROM good_prices',
    [asked],
  );
  return {
    external: new Map(
      external.map(({ currency_id, external_price, source, checked_ms }) => [
        currency_id,
        { price: parsePrice(external_price), source, checkedAt: checked_ms },
      ]),
    ),
    good: new Map(
      good.map(({ currency_id, price, confirmed }) => [
        currency_id,
        { price: publishedPrice(readPublishedPrice(price)), isConfirmed: confirmed },
      ]),
    ),
  };
}

/** Replaces all rows at once; readers notice the change by the position of the guard. */
export async function writeGuards(client: PoolClient, rows: readonly GuardRow[]): Promise<void> {
  await client.query('DELETE FROM price_guards');
  for (const { currencyId, external, verdict } of rows) {
    const { deviation, status, published } = verdict;
    await client.query(
      `INSERT INTO price_guards (currency_id, external_price, source, checked_at, deviation_pct, status, published)
       VALUES ($1, $2, $3, to_timestamp($4::float8 / 1000), $5, $6, $7)`,
      [
        currencyId,
        external && formatDecimal(external.price, 30),
        external?.source ?? null,
        external?.checkedAt ?? null,
        deviation === null ? null : formatDecimal(deviation, DEVIATION_DECIMALS),
        status,
        published && JSON.stringify(published.row),
      ],
    );
  }
  await countWrite(client, 'price_guard', ALL_CHAINS);
}

/** No reader sees these prices, so writing them does not move the position. */
export async function writeGoodPrices(
  client: PoolClient,
  prices: readonly (readonly [string, GoodPrice])[],
): Promise<void> {
  await client.query(
    `INSERT INTO good_prices SELECT * FROM unnest($1::text[], $2::jsonb[], $3::boolean[])
     ON CONFLICT (currency_id) DO UPDATE SET price = EXCLUDED.price, confirmed = EXCLUDED.confirmed`,
    [
      prices.map(([currencyId]) => currencyId),
      prices.map(([, { price }]) => JSON.stringify(price.row)),
      prices.map(([, { isConfirmed }]) => isConfirmed),
    ],
  );
}

/** Removes all verdicts and good prices. */
export async function forgetGuards(client: PoolClient): Promise<void> {
  const { rowCount } = await client.query('DELETE FROM price_guards');
  await client.query('DELETE FROM good_prices');
  if (rowCount !== 0) await countWrite(client, 'price_guard', ALL_CHAINS);
}
