/** Blocks, or their prices, that no longer hold. */
import type { StampsRewound } from '../../schemas/log-records.ts';
import type { EventOrigin } from './push-event.ts';

/** Without a block that stays there is no hash of it. */
export function undoEvent(
  { fromHeight, height: toHeight, hash }: Pick<StampsRewound, 'fromHeight' | 'height' | 'hash'>,
  why: { readonly reason: StampsRewound['reason']; readonly of?: 'prices' },
): Pick<EventOrigin, 'channel' | 'type' | 'data'> {
  return {
    channel: 'undo',
    type: 'undo',
    data: () => JSON.stringify({ fromHeight, toHeight, hash: toHeight < 0 ? null : hash, ...why }),
  };
}
