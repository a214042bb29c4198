/** What addresses hold, now or as of a block, each currency with its value. */

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
  /** Satoshis, ever. */
  readonly received: bigint;
  readonly usdValue: LosslessNumber | null;
}

const readBalance = rowReader({ currency_id: columns.text, balance: columns.text, received: columns.text });

/**
 * From one currency of an address to its next, so that it costs nothing how often a balance has changed; as of the end of
 * block $3.
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

/** Prices of currencies, decimal texts by i-address. */
export type PricesOf = (ids: readonly string[]) => Promise<ReadonlyMap<string, string>>;

/** The newest ones, as published. */
export function newestPricesOf(read: Snapshot, api: ApiContext): PricesOf {
  return async (ids) =>
    new Map((await latestPrices(read, api, ids)).map((price) => [price.currency_id, price.usd_price]));
}

/** The last ones up to the end of a block, of its branch: a later block may have a time that is not later. */
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
 * The native coin first, then what is there of other currencies, at the end of the block `height`; valued at the given prices.
 * Several addresses are summed.
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
