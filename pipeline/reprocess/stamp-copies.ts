/** Copies stamps into Postgres, stretch by stretch: ClickHouse prints the next stretch while Postgres reads the current one. */
import { allEnded } from '../../infra/all-ended.ts';
import type { Stores } from '../../infra/stores.ts';
import type { PriceChain } from '../price/price-chain.ts';
import { type CopyRange, readStamps } from './copy-stamps.ts';
import type { Progress } from './progress.ts';
import { clockDays, hasBackfill } from './stamp-all.ts';
import { stretches } from './stretches.ts';

export interface StampCopiesOptions {
  readonly generation: number;
  readonly chains: readonly PriceChain[];
  readonly stores: Pick<Stores, 'postgres' | 'clickhouse'>;
  /** Stamps of a stretch, plus the remaining stamps of its last tick. */
  readonly most: number;
}

export interface StampStretch {
  /** Newest tick of the stretch. */
  readonly high: number;
  /** The stamps as text for COPY. */
  readonly text: readonly Uint8Array[];
}

export interface StampCopies {
  /** Passes the stretch after `progress` to `write`, and reads the next one at the same time. */
  next(progress: Progress, write: (stretch: StampStretch) => Promise<void>): Promise<void>;
}

/** The stretches left to copy; valid while nothing has been undone since. */
interface Plan {
  readonly undone: number;
  readonly stamped: number;
  readonly ranges: readonly CopyRange[];
  /** The text that was read ahead, by the first tick of its range; at most one. */
  readonly read: Map<number, readonly Uint8Array[]>;
}

export function createStampCopies({ generation, chains, stores, most }: StampCopiesOptions): StampCopies {
  const { postgres, clickhouse } = stores;
  let plan: Plan | null = null;

  async function planFrom({ priced, stamped, copied, undone }: Progress): Promise<Plan> {
    const days = await clockDays(postgres, chains, priced);
    const of = { generation, days, hasBackfill: await hasBackfill(clickhouse, generation) };
    const ticks = await stretches(clickhouse, { generation, low: copied + 1, high: stamped, most });
    return { undone, stamped, ranges: ticks.map((range) => ({ ...range, ...of })), read: new Map() };
  }

  return {
    async next(progress, write) {
      const { undone, stamped, copied } = progress;
      const placeIn = ({ ranges }: Plan) => ranges.findIndex(({ low }) => low === copied + 1);
      const isPlanned = plan?.undone === undone && plan.stamped === stamped && placeIn(plan) >= 0;
      const current = isPlanned && plan ? plan : await planFrom(progress);
      plan = current;
      const place = placeIn(current);
      const [range, following] = [current.ranges[place], current.ranges[place + 1]];
      if (!range) throw new RangeError(`no stamps to copy after tick ${copied}`);
      const text = current.read.get(range.low) ?? (await readStamps(clickhouse, range));
      current.read.clear();
      const [, ahead] = await allEnded([
        write({ high: range.high, text }),
        following && readStamps(clickhouse, following),
      ]);
      if (following && ahead) current.read.set(following.low, ahead);
    },
  };
}
