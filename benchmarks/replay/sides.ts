/** What a side of the replay says of its run. */
import type { Digests } from '../../pipeline/verify/store-digests.ts';
import { startChild } from '../child.ts';

export interface ReplaySide {
  readonly seconds: number;
  /** Megabytes. */
  readonly memory: { readonly peak: number; readonly early: number; readonly late: number };
  /** Highest resident memory since the start of the process, and that of its embedded ClickHouse. */
  readonly peakMb: number;
  /** Used by the process and the Postgres below it. */
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
