/** Figures with a target: printed together with it; a miss is shown, but does not fail the run. */

export const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

export const atMost = (value: number, most: number, unit = ''): string =>
  `${shown(value, most)}${unit} (at most ${most}${unit}: ${value <= most ? 'holds' : 'DOES NOT HOLD'})`;

export const atLeast = (value: number, least: number, unit = ''): string =>
  `${shown(value, least)}${unit} (at least ${least}${unit}: ${value >= least ? 'holds' : 'DOES NOT HOLD'})`;

/** Ratios and seconds with two decimals, large figures with none. */
const shown = (value: number, bound: number): string => value.toFixed(bound < 20 ? 2 : 0);
