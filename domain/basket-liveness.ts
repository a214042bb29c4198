/** When a currency state is that of a launched currency or a live basket: for the program and for both stores. */
import { STATE_FLAGS } from './flags.ts';

const { FRACTIONAL, PRELAUNCH, REFUNDING, LAUNCH_CONFIRMED, LAUNCH_COMPLETE } = STATE_FLAGS;
const LAUNCHED = LAUNCH_CONFIRMED | LAUNCH_COMPLETE;
const LAUNCHED_MASK = LAUNCHED | PRELAUNCH | REFUNDING;
const LIVE = LAUNCHED | FRACTIONAL;
const LIVE_MASK = LAUNCHED_MASK | FRACTIONAL;

export function isFractional(flags: number): boolean {
  return (flags & FRACTIONAL) !== 0;
}

/** A basket whose launch is confirmed and complete, neither in prelaunch nor refunding. */
export function isLiveBasket(flags: number): boolean {
  return (flags & LIVE_MASK) === LIVE;
}

/** Conditions on a column `flags`; they begin with its name, so that a table's alias can go before them. */
export const IS_FRACTIONAL_SQL = `flags & ${FRACTIONAL} = ${FRACTIONAL}`;
/** A basket or a token that is past its launch. */
export const IS_LAUNCHED_SQL = `flags & ${LAUNCHED_MASK} = ${LAUNCHED}`;
/** isLiveBasket in ClickHouse. */
export const IS_LIVE_BASKET_CLICKHOUSE_SQL = `bitAnd(flags, ${LIVE_MASK}) = ${LIVE}`;
