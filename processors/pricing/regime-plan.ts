/** Which regime stamps which conversion: the cutover splits history, and ranges override it. */
import type { RangeRegime, Regime } from '../../domain/stamps.ts';

/** Times are those of blocks, in seconds since the epoch. */
export interface RegimeRange {
  readonly regime: RangeRegime;
  /** First second; null: from the beginning. */
  readonly from: number | null;
  /** First second after the range; null: without end, so that it applies to future blocks as well. */
  readonly to: number | null;
  /** Null: all chains. */
  readonly chains: readonly string[] | null;
}

export interface RegimePlan {
  /** Seconds since the epoch: earlier blocks are stamped by the backfill regime unless a range overrides it. */
  readonly cutover: number;
  regimeOf(chain: string, time: number): Regime;
  /** From this second on no conversion is stamped by the backfill regime; Infinity when that regime never ends. */
  readonly backfillEnds: number;
}

/** The last range that contains a block applies. */
export function regimePlan(cutover: number, ranges: readonly RegimeRange[] = []): RegimePlan {
  const ends = ranges.map(({ regime, to }) => (regime === 'backfill' ? (to ?? Number.POSITIVE_INFINITY) : 0));
  return {
    cutover,
    backfillEnds: Math.max(cutover, ...ends),
    regimeOf(chain, time) {
      const regime = ranges.findLast((range) => holds(range, chain, time))?.regime ?? 'cutover';
      if (regime !== 'cutover') return regime;
      return time < cutover ? 'backfill' : 'live';
    },
  };
}

/** Adds a range that overrides the others; a range that covers everything replaces them. */
export function withRange(ranges: readonly RegimeRange[], added: RegimeRange): readonly RegimeRange[] {
  const isEverything = added.from === null && added.to === null && added.chains === null;
  return isEverything ? [added] : [...ranges, added];
}

function holds({ from, to, chains }: RegimeRange, chain: string, time: number): boolean {
  return (from === null || time >= from) && (to === null || time < to) && (chains === null || chains.includes(chain));
}
