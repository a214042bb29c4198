/** What addresses hold now, each currency with its value at the newest price. */

import type { LosslessNumber } from 'lossless-json';
import { columns, rowReader } from '../../../infra/postgres/row-reader.ts';
import type { ChainConfig } from '../../../schemas/config.ts';
import type { ApiContext } from '../../api-context.ts';
import { usdValueOf } from '../../http/values.ts';
import type { Snapshot } from '../../state/snapshot.ts';
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

/** From one currency of an address to its next, so that it costs nothing how often a balance has changed. */
const BALANCES_SQL = `WITH RECURSIVE held(address, currency_id) AS (
    SELECT wanted.address, (SELECT min(currency_id) FROM balances WHERE chain = $1 AND address = wanted.address)
    FROM (SELECT DISTINCT unnest($2::text[]) AS address) AS wanted
    UNION ALL
    SELECT address, (SELECT min(currency_id) FROM balances
      WHERE chain = $1 AND address = held.address AND currency_id > held.currency_id)
    FROM held WHERE currency_id IS NOT NULL)
  SELECT currency_id, sum(newest.balance)::text AS balance, sum(newest.received)::text AS received
  FROM held CROSS JOIN LATERAL (SELECT balance, received, to_height FROM balances
    WHERE chain = $1 AND address = held.address AND currency_id = held.currency_id ORDER BY from_height DESC LIMIT 1) AS newest
  WHERE newest.to_height IS NULL GROUP BY currency_id ORDER BY currency_id`;

/** The native coin first, then what is there of other currencies. Several addresses are summed. */
export async function holdingsOf(
  read: Snapshot,
  api: ApiContext,
  chain: ChainConfig,
  addresses: readonly string[],
): Promise<CurrencyHolding[]> {
  const nativeId = api.currencies.nativeId(chain);
  const rows = await read.rows(readBalance, BALANCES_SQL, [chain.name, addresses]);
  const native = rows.find((row) => row.currency_id === nativeId) ?? {
    currency_id: nativeId,
    balance: '0',
    received: '0',
  };
  const held = [native, ...rows.filter((row) => row.currency_id !== nativeId && row.balance !== '0')];
  const prices = await latestPrices(
    read,
    api,
    held.map((row) => row.currency_id),
  );
  const priceOf = new Map(prices.map((price) => [price.currency_id, price.usd_price]));
  const currencies = await api.currencies.of(read);
  return held.map(({ currency_id: currencyId, balance, received }) => ({
    currencyId,
    currencyName: currencies.name(currencyId),
    balance: BigInt(balance),
    received: BigInt(received),
    usdValue: usdValueOf(BigInt(balance), priceOf.get(currencyId) ?? null),
  }));
}
