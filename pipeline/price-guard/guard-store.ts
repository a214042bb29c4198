/** What the guard reads of the derived prices, and the one table that it writes. */
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
  /** Last good price of each currency that is rejected. */
  readonly good: Map<string, PublishedPrice>;
}

const readGuard = rowReader({
  currency_id: columns.text,
  external_price: columns.nullable(columns.text),
  source: columns.nullable(columns.text),
  checked_ms: columns.nullable(columns.number),
  status: columns.text,
  /** JSON text. */
  published: columns.nullable(columns.text),
});

/** What an earlier life of the guard knew. */
export async function readGuards(client: Pick<PoolClient, 'query'>): Promise<KeptGuards> {
  const rows = await readRows(
    client,
    readGuard,
    `SELECT currency_id, external_price, source, (extract(epoch FROM checked_at) * 1000)::float8 AS checked_ms, status, published
     FROM price_guards`,
  );
  const kept: KeptGuards = { external: new Map(), good: new Map() };
  for (const { currency_id, external_price, source, checked_ms, status, published } of rows) {
    if (external_price !== null && source !== null && checked_ms !== null) {
      kept.external.set(currency_id, { price: parsePrice(external_price), source, checkedAt: checked_ms });
    }
    if (status === 'rejected' && published !== null)
      kept.good.set(currency_id, publishedPrice(readPublishedPrice(published)));
  }
  return kept;
}

/** All of them at once; readers see the change by the position of the guard. */
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
