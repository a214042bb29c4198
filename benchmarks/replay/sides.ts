/** The report of one side of the replay. */
import type { Digests } from '../../pipeline/verify/store-digests.ts';
import { startChild } from '../child.ts';

export interface ReplaySide {
  readonly seconds: number;
  /** Megabytes. */
  readonly memory: { readonly peak: number; readonly early: number; readonly late: number };
  /** Sum of the peaks of resident memory of the process and of its embedded ClickHouse, since the start of each. */
  readonly peakMb: number;
  /** CPU seconds of the process and of its Postgres. */
  readonly cpuSeconds: number;
  readonly fillSeconds: number;
  readonly drainSeconds: number;
  readonly batches: number;
  readonly digests: Digests;
}

export type SideName = 'derive' | 'naive';

export async function runSide(folder: string, chain: string, side: SideName): Promise<ReplaySide> {
  return (await startChild<ReplaySide>('replay/side', folder, chain, side)).report;
}
