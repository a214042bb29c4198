/** A banner for a view whose block was removed by a reorganisation while the view was open. It stays when the view is read again. */

import { useRef } from 'preact/hooks';
import { revertedSince } from '../state/lanes.ts';
import { timeZone } from '../state/settings.ts';
import { shownTime } from '../text/times.ts';

interface RevertedBannerProps {
  readonly chain: string;
  /** Height of the view's block; null until the answer names a block. */
  readonly height: string | null | undefined;
  /** When the answer arrived. */
  readonly readAt: number | undefined;
}

export function RevertedBanner({ chain, height, readAt = 0 }: RevertedBannerProps) {
  const first = useRef<{ readonly height: number; readonly readAt: number } | null>(null);
  if (height != null) first.current ??= { height: Number(height), readAt };
  const range = first.current && revertedSince(chain, first.current.height, first.current.readAt);
  if (!range) return null;
  // The view is read again at once, possibly in the same millisecond.
  const isReadSince = readAt >= range.at;
  return (
    <p class="banner" role="alert" data-code="taken_back" data-testid="taken-back">
      <strong>Taken back</strong> at {shownTime(range.at, timeZone.value)}: a reorganisation removed the blocks above{' '}
      {range.toHeight} of {chain}, {range.depth} deep.{' '}
      {isReadSince ? 'The data below was read after that.' : 'The data below is from before.'}
    </p>
  );
}
