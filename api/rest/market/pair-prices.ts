/** Prices of a basket's currencies in each other, from exact reserves, supply and weights. */

import type { LosslessNumber } from 'lossless-json';
import { isLiveBasket } from '../../../domain/basket-liveness.ts';
import type { ReserveBalance } from '../../../domain/reserves.ts';
import { parseReserves } from '../../../domain/reserves.ts';
import { storedColumns } from '../../../infra/postgres/stored-columns.ts';
import { columns, rowReader } from '../../../infra/row-reader.ts';
import { DEFINITIONS } from '../../../schemas/facts.ts';
import { ratio } from '../../http/values.ts';
import { heightAtTime } from '../../state/block-at.ts';
import type { Snapshot } from '../../state/snapshot.ts';
import type { Fraction } from './candle-rows.ts';

export interface BasketMoment {
  readonly height: number;
  readonly supply: bigint;
  readonly reserves: readonly ReserveBalance[];
}

const FULL_WEIGHT = 100_000_000n;

/** Units of the currency for one basket token: 1 for the basket's own token, and null for a currency without a price in the basket. */
function perToken({ supply, reserves }: BasketMoment, basketId: string, currencyId: string): Fraction | null {
  if (currencyId === basketId) return { over: 1n, under: 1n };
  const reserve = reserves.find((candidate) => candidate.currencyId === currencyId);
  if (!reserve || reserve.reserves === 0n || reserve.weight === 0n || supply === 0n) return null;
  return { over: reserve.reserves * FULL_WEIGHT, under: supply * reserve.weight };
}

export interface Candle {
  readonly open: LosslessNumber;
  readonly high: LosslessNumber;
  readonly low: LosslessNumber;
  readonly close: LosslessNumber;
}

/** Candle, in units of quote for one of base, over states in order; null when no state has a price. */
export function candle(states: readonly BasketMoment[], basketId: string, base: string, quote: string): Candle | null {
  const prices = states.flatMap((state) => {
    const [of, by] = [perToken(state, basketId, quote), perToken(state, basketId, base)];
    return of && by ? [ratio(of.over * by.under, of.under * by.over)] : [];
  });
  const [open] = prices;
  const close = prices.at(-1);
  if (!open || !close) return null;
  const sorted = [...prices].sort((a, b) => Number(a.value) - Number(b.value));
  return { open, high: sorted.at(-1) ?? close, low: sorted[0] ?? close, close };
}

const readState = rowReader({
  height: columns.number,
  ...storedColumns(DEFINITIONS.currency_state, ['flags', 'supply', 'reserves']),
});

/** The state at the start of a window and every later one, only the last of each block, oldest first. */
const STATES_SQL = `SELECT from_height AS height, flags, supply, reserves FROM (
    (SELECT from_height, tx_index, vout, to_height, flags, supply, reserves FROM currency_states
      WHERE chain = $1 AND currency_id = $2 AND from_height <= $3
      ORDER BY from_height DESC, tx_index DESC, vout DESC LIMIT 1)
    UNION ALL
    (SELECT from_height, tx_index, vout, to_height, flags, supply, reserves FROM currency_states
      WHERE chain = $1 AND currency_id = $2 AND from_height > $3)
  ) states WHERE to_height IS NULL OR to_height > from_height ORDER BY from_height, tx_index, vout`;

/** The states since a moment in which the basket trades. */
export async function statesSince(
  read: Snapshot,
  chain: string,
  currencyId: string,
  moment: number,
): Promise<BasketMoment[]> {
  const start = await heightAtTime(read, chain, moment);
  const values = [chain, currencyId, start ?? 0];
  const rows = await read.rows(readState, STATES_SQL, values);
  return rows
    .filter(({ flags }) => isLiveBasket(flags))
    .map(({ height, supply, reserves }) => ({ height, supply, reserves: parseReserves(reserves) }));
}
