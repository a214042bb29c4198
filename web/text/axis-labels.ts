/** Formats the ticks of an axis: as short as possible, but so that no tick is rounded. */
import { numberFormat } from './numbers.ts';

type Notation = 'standard' | 'compact' | 'scientific';

/** Significant digits, tried in this order. */
const DIGITS: Readonly<Record<Notation, readonly number[]>> = {
  standard: [6, 9, 12, 15],
  compact: [4, 6, 9, 12, 15],
  scientific: [4, 6, 9, 12, 15],
};
/** Below the first, `standard` would consist of zeros; from the second on, `compact` has a letter; the third is beyond its letters. */
const [SMALL, LARGE, HUGE] = [1e-4, 1e5, 1e15];

function notationFor(largest: number): Notation {
  if (largest >= HUGE || (largest > 0 && largest < SMALL)) return 'scientific';
  return largest >= LARGE ? 'compact' : 'standard';
}

export function axisLabels(ticks: readonly number[]): string[] {
  const notation = notationFor(Math.max(0, ...ticks.map(Math.abs)));
  const all = DIGITS[notation];
  const maximumSignificantDigits = all.find((digits) => areWhole(ticks, digits)) ?? all.at(-1) ?? 1;
  const format = numberFormat({ notation, maximumSignificantDigits });
  return ticks.map((tick) => (tick === 0 ? '0' : format.format(tick)));
}

/** Whether so many digits hold the ticks, but for what a double adds to them. */
function areWhole(ticks: readonly number[], digits: number): boolean {
  const steps = ticks.slice(1).map((tick, index) => Math.abs(tick - (ticks[index] ?? tick)));
  const noise = Math.min(...(steps.length > 0 ? steps : ticks.map(Math.abs))) / 100;
  return ticks.every((tick) => Math.abs(Number(tick.toPrecision(digits)) - tick) <= noise);
}
