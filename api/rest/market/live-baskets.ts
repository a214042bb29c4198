/** The baskets that trade now, with their reserves and the USD value of these. */

import { isLiveBasket } from '../../../domain/basket-liveness.ts';
import { descending } from '../../../domain/order.ts';
import { parseReserves, type ReserveBalance } from '../../../domain/reserves.ts';
import { storedColumns } from '../../../infra/postgres/stored-columns.ts';
import { columns, rowReader } from '../../../infra/row-reader.ts';
import { DEFINITIONS } from '../../../schemas/facts.ts';
import type { ApiContext } from '../../api-context.ts';
import { type Usd, usdOf } from '../../http/usd.ts';
import type { Currencies } from '../../state/currency-directory.ts';
import type { Snapshot } from '../../state/snapshot.ts';
import { type LatestPrice, latestPrices } from '../prices/price-rows.ts';

export interface LiveBasket {
  readonly chain: string;
  readonly currencyId: string;
  readonly name: string;
  readonly supply: bigint;
  readonly liveHeight: number | null;
  readonly reserves: readonly ReserveBalance[];
}

export interface Market {
  readonly baskets: readonly LiveBasket[];
  readonly currencies: Currencies;
  readonly prices: ReadonlyMap<string, LatestPrice>;
  /** USD value of an amount of a currency; null if it has no price. */
  worth(currencyId: string, satoshis: bigint): Usd | null;
  /** Σ of the reserves that have a price. */
  tvl(basket: LiveBasket): Usd;
}

const STATE = {
  chain: columns.text,
  ...storedColumns(DEFINITIONS.currency_state, ['currencyId', 'flags', 'supply', 'liveHeight', 'reserves']),
};
const readState = rowReader(STATE);
const STATES_SQL = `SELECT ${Object.keys(STATE).join(', ')} FROM currency_states
  WHERE to_height IS NULL ORDER BY chain, currency_id`;

export async function readMarket(read: Snapshot, api: ApiContext): Promise<Market> {
  const currencies = await api.currencies.of(read);
  const states = await read.rows(readState, STATES_SQL);
  const configured = new Set(api.config.chains.map((chain) => chain.name));
  const baskets = states
    .filter(({ chain, flags, supply }) => configured.has(chain) && isLiveBasket(flags) && supply > 0n)
    .map(({ chain, currency_id: currencyId, supply, live_height: liveHeight, reserves }) => {
      const name = currencies.name(currencyId) ?? currencyId;
      return { chain, currencyId, name, supply, liveHeight, reserves: parseReserves(reserves) };
    });
  const rows = await latestPrices(
    read,
    api,
    [...currencies.all()].map((entry) => entry.currencyId),
  );
  const prices = new Map(rows.map((row) => [row.currency_id, row]));
  const worth = (currencyId: string, satoshis: bigint) => {
    const price = prices.get(currencyId);
    return price ? usdOf(satoshis, price.usd_price) : null;
  };
  const tvl = ({ reserves }: LiveBasket) =>
    reserves.reduce((sum, reserve) => sum + (worth(reserve.currencyId, reserve.reserves) ?? 0n), 0n);
  return { baskets, currencies, prices, worth, tvl };
}

/** USD value of a currency in the reserves of all live baskets; 0 without a price. */
export function liquidityOf(market: Market, currencyId: string): Usd {
  return market.baskets
    .flatMap((basket) => basket.reserves)
    .filter((reserve) => reserve.currencyId === currencyId)
    .reduce((sum, reserve) => sum + (market.worth(currencyId, reserve.reserves) ?? 0n), 0n);
}

/** The baskets with their value, largest first. */
export function largestBaskets(market: Market): { readonly basket: LiveBasket; readonly tvl: Usd }[] {
  const baskets = market.baskets.map((basket) => ({ basket, tvl: market.tvl(basket) }));
  return baskets.sort((a, b) => descending(a.tvl, b.tvl));
}
