import { ApiError } from '../http/api-error.ts';
import type { Snapshot } from './snapshot.ts';

/** Returns the newest indexed height. @throws ApiError syncing before the first block */
export function tipHeight(read: Snapshot, chain: string): number {
  const tip = read.state.derived.get(chain);
  if (!tip) throw new ApiError('syncing', `no block of ${chain} is indexed yet`);
  return tip.height;
}
