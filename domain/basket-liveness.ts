/** Whether flags are those of a launched currency or a live basket, as functions and as SQL for both stores. */
import { STATE_FLAGS } from './flags.ts';

const { FRACTIONAL, PRELAUNCH, REFUNDING, LAUNCH_CONFIRMED, LAUNCH_COMPLETE } = STATE_FLAGS;
const LAUNCHED = LAUNCH_CONFIRMED | LAUNCH_COMPLETE;
const LAUNCHED_MASK = LAUNCHED | PRELAUNCH | REFUNDING;
const LIVE = LAUNCHED | FRACTIONAL;
const LIVE_MASK = LAUNCHED_MASK | FRACTIONAL;

export function isFractional(flags: number): boolean {
  return (flags & FRACTIONAL) !== 0;
}

/** True for a basket whose launch is confirmed and complete, and that is neither in prelaunch nor refunding. */
export function isLiveBasket(flags: number): boolean {
  return (flags & LIVE_MASK) === LIVE;
}

/** SQL conditions on a column `flags`. They begin with the column's name, so that a table alias can be put in front. */
export const IS_FRACTIONAL_SQL = `flags & ${FRACTIONAL} = ${FRACTIONAL}`;
/** Matches a basket or a token that is past its launch. */
export const IS_LAUNCHED_SQL = `flags & ${LAUNCHED_MASK} = ${LAUNCHED}`;
/** isLiveBasket for ClickHouse. */
export const IS_LIVE_BASKET_CLICKHOUSE_SQL = `bitAnd(flags, ${LIVE_MASK}) = ${LIVE}`;
