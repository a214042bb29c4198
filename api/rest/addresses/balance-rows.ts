/** Balances of addresses, now or as of a block, with the USD value of each currency. */

import type { LosslessNumber } from 'lossless-json';
import { columns, rowReader } from '../../../infra/row-reader.ts';
import type { ChainConfig } from '../../../schemas/config.ts';
import type { ApiContext } from '../../api-context.ts';
import { usdValueOf } from '../../http/values.ts';
import { pricedHeight } from '../../state/priced-heights.ts';
import { pricedRows } from '../../state/priced-rows.ts';
import type { Snapshot } from '../../state/snapshot.ts';
import { pricesUntil } from '../prices/price-past.ts';
import { latestPrices } from '../prices/price-rows.ts';

export interface CurrencyHolding {
  readonly currencyId: string;
  readonly currencyName: string | null;
  /** Satoshis. */
  readonly balance: bigint;
  /** Satoshis received in all, spent ones included. */
  readonly received: bigint;
  readonly usdValue: LosslessNumber | null;
}

const readBalance = rowReader({ currency_id: columns.text, balance: columns.text, received: columns.text });

/**
 * Balances at the end of block $3. The recursion steps from one currency of an address to the next, so that the cost does not
 * depend on how often a balance has changed.
 */
const BALANCES_SQL = `WITH RECURSIVE held(address, currency_id) AS (
    SELECT wanted.address, (SELECT min(currency_id) FROM balances WHERE chain = $1 AND address = wanted.address)
    FROM (SELECT DISTINCT unnest($2::text[]) AS address) AS wanted
    UNION ALL
    SELECT address, (SELECT min(currency_id) FROM balances
      WHERE chain = $1 AND address = held.address AND currency_id > held.currency_id)
    FROM held WHERE currency_id IS NOT NULL)
  SELECT currency_id, sum(newest.balance)::text AS balance, sum(newest.received)::text AS received
  FROM held CROSS JOIN LATERAL (SELECT balance, received FROM balances
    WHERE chain = $1 AND address = held.address AND currency_id = held.currency_id AND from_height <= $3
    ORDER BY from_height DESC LIMIT 1) AS newest
  GROUP BY currency_id ORDER BY currency_id`;

/** Returns prices as decimal texts by i-address. */
export type PricesOf = (ids: readonly string[]) => Promise<ReadonlyMap<string, string>>;

/** The newest published prices. */
export function newestPricesOf(read: Snapshot, api: ApiContext): PricesOf {
  return async (ids) =>
    new Map((await latestPrices(read, api, ids)).map((price) => [price.currency_id, price.usd_price]));
}

/** The last prices up to the end of a block on its branch, found by tick: a later block may have the same time or an earlier one. */
export async function pricesOfBlock(
  read: Snapshot,
  api: ApiContext,
  { chain, height, clock }: { readonly chain: string; readonly height: number; readonly clock: number },
): Promise<PricesOf> {
  const rows = await pricedRows(read, api);
  const priced = Math.min(height, await pricedHeight(read, chain));
  const tick = (await rows.placesOf(chain, [priced])).get(priced)?.tick ?? -1;
  return (ids) => pricesUntil(api, rows, ids, { until: tick < 0 ? null : String(tick), moment: clock });
}

/**
 * Balances at the end of block `height`, valued at the given prices and summed over the addresses: the native coin first, even
 * at 0, then every other currency with a balance.
 */
export async function holdingsOf(
  read: Snapshot,
  api: ApiContext,
  chain: ChainConfig,
  addresses: readonly string[],
  { height, pricesOf }: { readonly height: number; readonly pricesOf: PricesOf },
): Promise<CurrencyHolding[]> {
  const nativeId = api.currencies.nativeId(chain);
  const rows = await read.rows(readBalance, BALANCES_SQL, [chain.name, addresses, height]);
  const native = rows.find((row) => row.currency_id === nativeId) ?? {
    currency_id: nativeId,
    balance: '0',
    received: '0',
  };
  const held = [native, ...rows.filter((row) => row.currency_id !== nativeId && row.balance !== '0')];
  const priceOf = await pricesOf(held.map((row) => row.currency_id));
  const currencies = await api.currencies.of(read);
  return held.map(({ currency_id: currencyId, balance, received }) => ({
    currencyId,
    currencyName: currencies.name(currencyId),
    balance: BigInt(balance),
    received: BigInt(received),
    usdValue: usdValueOf(BigInt(balance), priceOf.get(currencyId) ?? null),
  }));
}
