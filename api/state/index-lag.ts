/** How far the index of a chain is behind its daemon. */
import type { StateWatch } from './state-watch.ts';

/** An index at most this many blocks behind its daemon counts as synced. */
export const SYNCED_BLOCKS = 5;

/** Height of the daemon as the tailer last reported it; null while unknown. */
export function heightOfDaemon({ statuses }: Pick<StateWatch, 'statuses'>, chain: string): number | null {
  const tail = statuses.of(chain, 'tail');
  return tail?.targetHeight ?? tail?.height ?? null;
}

/** Returns whether an index of this height is known to be further behind than while it follows; null stands for no block and for an unknown height. */
export function isCatchingUp(indexed: number | null, ofDaemon: number | null): boolean {
  return ofDaemon !== null && ofDaemon - (indexed ?? -1) > SYNCED_BLOCKS;
}
