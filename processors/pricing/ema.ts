/** Exponential moving average with a time constant of 600 s of block time, exact to the last of its 30 decimals. */
import { divideHalfEven } from '../../domain/rational.ts';

const TIME_CONSTANT = 600n;
/** From here on 1 − e^(−Δt/600) is above the cap of one half. */
const CAPPED_FROM_SECONDS = 416;
const ALPHA_SCALE = 10n ** 40n;
const SERIES_SCALE = 10n ** 60n;
const alphas: bigint[] = [];

export interface Ema {
  /** Scaled by 10^30. */
  readonly value: bigint;
  /** Block time of the last step. */
  readonly time: number;
}

/** min(1 − e^(−seconds/600), 0.5), scaled by 10^40; whole seconds, not negative. */
export function emaAlpha(seconds: number): bigint {
  if (seconds >= CAPPED_FROM_SECONDS) return ALPHA_SCALE / 2n;
  let alpha = alphas[seconds];
  if (alpha === undefined) {
    alpha = ALPHA_SCALE - divideHalfEven(expNegative(BigInt(seconds)), SERIES_SCALE / ALPHA_SCALE);
    alphas[seconds] = alpha;
  }
  return alpha;
}

/** e^(−seconds/600) scaled by 10^60, by its series: 20 digits more than are kept. */
function expNegative(seconds: bigint): bigint {
  let term = SERIES_SCALE;
  let sum = 0n;
  for (let k = 1n; term !== 0n; k++) {
    sum += term;
    term = (-term * seconds) / (TIME_CONSTANT * k);
  }
  return sum;
}

/** The step of one block of the default chain; the first step takes the spot price. A block time that steps back counts as 0 s. */
export function stepEma(previous: Ema | undefined, spot: bigint, time: number): Ema {
  if (!previous) return { value: spot, time };
  const alpha = emaAlpha(Math.max(0, time - previous.time));
  const value = divideHalfEven(previous.value * (ALPHA_SCALE - alpha) + spot * alpha, ALPHA_SCALE);
  return { value, time };
}
