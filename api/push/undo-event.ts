/** The event which reports that blocks, or their prices, no longer hold. */
import type { StampsRewound } from '../../schemas/log-records.ts';
import type { EventOrigin } from './push-event.ts';

/** `hash` is null if no block stays. */
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
