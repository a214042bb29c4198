/** The backfill regime's part of the fold: daily prices of each chain, and stamps that stay open until their bounds close. */

import type { BasketState } from '../../domain/basket-state.ts';
import { getOrInsert } from '../../domain/get-or-insert.ts';
import type { Side } from '../../domain/stamps.ts';
import { utcDay } from '../../domain/time.ts';
import {
  boundsCloseAt,
  boundsOf,
  type DailyPrice,
  isOutOfBounds,
  isOutsideLimits,
  type PriceBounds,
} from './backfill-bounds.ts';
import { type BackfillPrices, backfillPrices } from './backfill-prices.ts';
import type { ChainView, PricedBlock } from './chain-view.ts';
import type { RegimePlan } from './regime-plan.ts';
import { decideStamp, formatMedian, type Stamp, type StampBasis, type StampRow, toStamp } from './stamp.ts';
import type { ConversionSide } from './stamp-decision.ts';

/** A change of a currency's daily price: its backfill price from a tick on. */
export interface BackfillRow {
  readonly tick: number;
  readonly chain: string;
  readonly currencyId: string;
  readonly day: number;
  readonly usd: bigint;
}

export interface OpenStamp {
  readonly basis: StampBasis;
  /** As it was last written. */
  readonly row: StampRow;
}

export interface BackfillRules {
  readonly chains: readonly { readonly name: string; readonly nativeCurrencyId: string }[];
  readonly anchors: ReadonlySet<string>;
  readonly regimes: RegimePlan;
}

export interface BackfillState {
  /** By chain. */
  readonly clocks: Map<string, number>;
  /** By chain and currency, days ascending. */
  readonly daily: Map<string, Map<string, DailyPrice[]>>;
  /** Stamps of the backfill regime whose bounds may still move. */
  readonly open: readonly OpenStamp[];
}

export interface BackfillFold {
  tick(tick: number, block: PricedBlock, view: ChainView): readonly BackfillRow[];
  /** Prices of a chain after its last tick. */
  prices(chain: string): BackfillPrices;
  stamp(origin: Omit<StampRow, 'stamp'>, basis: StampBasis): StampRow;
  corrections(): readonly StampRow[];
  open(): readonly OpenStamp[];
}

interface ChainPrices {
  readonly trading: readonly BasketState[];
  readonly day: number;
  readonly prices: BackfillPrices;
}

/** Days that open bounds can cover: two spans around the current day, and one day for clocks ahead of block times. */
const KEPT_DAYS = 33;
const NO_ROWS: readonly never[] = [];
const NO_PRICES: BackfillPrices = new Map();

export function createBackfillFold(rules: BackfillRules, state: BackfillState): BackfillFold {
  const natives = new Map(rules.chains.map((chain) => [chain.name, chain.nativeCurrencyId]));
  const current = new Map<string, ChainPrices>();
  const { daily, clocks } = state;
  let open: OpenStamp[] = [...state.open];
  let isMoved = true;

  /** Must run only after all open stamps were evaluated, because a clock may leap over many days. */
  function forgetOldDays(): void {
    for (const [chain, currencies] of daily) {
      const oldest = utcDay(clocks.get(chain) ?? 0) - KEPT_DAYS;
      for (const days of currencies.values()) while ((days[0]?.day ?? oldest) < oldest) days.shift();
    }
  }

  function evaluate(
    { basis, row }: OpenStamp,
    boundsAt: (chain: string, currencyId: string, day: number) => PriceBounds | null,
  ): Stamp {
    const day = utcDay(row.time);
    const isClosed = (clocks.get(row.chain) ?? 0) >= boundsCloseAt(day);
    const doubted: Side[] = [];
    const bounds: Record<string, { median: string; days: number }> = {};
    for (const side of ['from', 'to'] as const) {
      const of = basis[side];
      if (!isDoubtful(of)) continue;
      const near = boundsAt(row.chain, of.currencyId, day);
      if (near) bounds[of.currencyId] = { median: formatMedian(near.twiceMedian), days: near.days };
      if (isOutsideLimits(of) || (near && of.price !== null && isOutOfBounds(of.price, near))) doubted.push(side);
    }
    const inputs = isClosed ? { ...basis.inputs, bounds } : basis.inputs;
    return toStamp({ ...basis, inputs }, decideStamp(basis, doubted), !isClosed);
  }

  function bounds(chain: string, currencyId: string, day: number): PriceBounds | null {
    return boundsOf(day, daily.get(chain)?.get(currencyId) ?? []);
  }

  return {
    tick(tick, { chain, clock }, view) {
      const day = utcDay(clock);
      const before = current.get(chain);
      if (utcDay(clocks.get(chain) ?? 0) !== day) isMoved = true;
      clocks.set(chain, clock);
      if (clock >= boundsCloseAt(utcDay(rules.regimes.backfillEnds))) return NO_ROWS;
      if (before?.day === day && before.trading === view.trading) return NO_ROWS;
      const nativeCurrencyId = natives.get(chain) ?? '';
      const isSame = before?.trading === view.trading;
      const input = { baskets: view.trading, anchors: rules.anchors, nativeCurrencyId };
      const prices = isSame ? before.prices : backfillPrices(input);
      current.set(chain, { trading: view.trading, day, prices });
      const rows = [...prices.values()]
        .filter(({ currencyId }) => !rules.anchors.has(currencyId) && currencyId !== nativeCurrencyId)
        .map(({ currencyId, usd }) => ({ tick, chain, currencyId, day, usd }))
        .filter((row) => record(daily, row));
      if (rows.length > 0) isMoved = true;
      return rows;
    },

    prices: (chain) => current.get(chain)?.prices ?? NO_PRICES,

    stamp(origin, basis) {
      if (basis.kind !== 'conversion' || !(isDoubtful(basis.from) || isDoubtful(basis.to))) {
        return { ...origin, stamp: toStamp(basis, decideStamp(basis), false) };
      }
      const row = { ...origin, stamp: toStamp(basis, decideStamp(basis), true) };
      open.push({ basis, row });
      isMoved = true;
      return row;
    },

    open: () => open,

    corrections() {
      if (!isMoved) return NO_ROWS;
      const known = new Map<string, PriceBounds | null>();
      const boundsAt = (chain: string, currencyId: string, day: number) =>
        getOrInsert(known, `${chain} ${currencyId} ${day}`, () => bounds(chain, currencyId, day));
      const corrected: StampRow[] = [];
      open = open.flatMap((stamped) => {
        const stamp = evaluate(stamped, boundsAt);
        const row = { ...stamped.row, stamp };
        if (!readsTheSame(stamp, stamped.row.stamp)) corrected.push(row);
        return stamp.provisional ? [{ basis: stamped.basis, row }] : [];
      });
      forgetOldDays();
      isMoved = false;
      return corrected;
    },
  };
}

/** Records the daily price of the row; returns whether it changed. */
function record(daily: BackfillState['daily'], row: BackfillRow): boolean {
  const days = getOrInsert(
    getOrInsert(daily, row.chain, () => new Map<string, DailyPrice[]>()),
    row.currencyId,
    () => [],
  );
  const last = days.at(-1);
  if (last?.day === row.day && last.usd === row.usd) return false;
  if (last?.day === row.day) days.pop();
  days.push({ day: row.day, usd: row.usd });
  return true;
}

/** True for a side with a price that is neither anchor nor native: its price may turn out not to be believable. */
export function isDoubtful(side: ConversionSide | null): side is ConversionSide {
  return side !== null && !side.isAnchor && !side.isNative && side.price !== null;
}

function readsTheSame(a: Stamp, b: Stamp): boolean {
  return (
    a.provisional === b.provisional &&
    a.rule === b.rule &&
    a.reason === b.reason &&
    a.diverged === b.diverged &&
    a.fromUsd === b.fromUsd &&
    a.toUsd === b.toUsd &&
    a.usdValue === b.usdValue &&
    a.pricedCurrencyId === b.pricedCurrencyId
  );
}
