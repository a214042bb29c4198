/** Refuses a range, given by two parameters, that is empty whatever the chain contains. */
import { plainDecimal } from '../../domain/decimal.ts';
import { parameterError } from './api-error.ts';
import { parseTime } from './time-parameter.ts';

/** Name of a parameter, and its value if it was given. */
type End<V> = readonly [name: string, value: V | undefined];

interface RangeKind<V> {
  readonly isEmpty: (from: V, to: V, names: readonly [string, string]) => boolean;
  /** Text between the two ends in the error: "from (7) is above to (3)". */
  readonly said: string;
}

/** Both ends are in the range. */
export const NUMBERS: RangeKind<number> = { isEmpty: (from, to) => from > to, said: 'is above' };

/** The same for decimals, of any number of digits. */
export const DECIMALS: RangeKind<string> = {
  isEmpty(from, to) {
    const [least, most] = [from, to].map((text) => plainDecimal(text).split('.')) as [string[], string[]];
    const places = Math.max(least[1]?.length ?? 0, most[1]?.length ?? 0);
    const units = ([whole = '0', fraction = '']: string[]) => BigInt(whole + fraction.padEnd(places, '0'));
    return units(least) > units(most);
  },
  said: 'is above',
};

/** Seconds since the epoch; the end is not in the range. */
const SECONDS_BEFORE: RangeKind<number> = { isEmpty: (from, to) => from >= to, said: 'is not before' };

/** The same for ranges that are widened to whole steps of `width` seconds. */
export const wholeSteps = (width: number): RangeKind<number> => ({
  isEmpty: (from, to) => Math.floor(from / width) >= Math.ceil(to / width),
  said: SECONDS_BEFORE.said,
});

/** The same for times as the caller wrote them. */
export const TIMES_BEFORE: RangeKind<string> = {
  isEmpty: (from, to, names) => SECONDS_BEFORE.isEmpty(parseTime(from, names[0]), parseTime(to, names[1]), names),
  said: SECONDS_BEFORE.said,
};

/** @throws ApiError invalid_parameter when both ends are given and the range is empty */
export function refuseEmptyRange<V extends string | number>(kind: RangeKind<V>, from: End<V>, to: End<V>): void {
  const [[first, least], [last, most]] = [from, to];
  if (least === undefined || most === undefined || !kind.isEmpty(least, most, [first, last])) return;
  throw parameterError(first, `${first} (${least}) ${kind.said} ${last} (${most})`);
}
