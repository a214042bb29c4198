/** The banner of a view whose block was removed while it was open; what it shows stays readable. */

import { revertedSince } from '../state/lanes.ts';
import { timeZone } from '../state/settings.ts';
import { shownTime } from '../text/times.ts';

interface RevertedBannerProps {
  readonly chain: string;
  readonly height: string;
  /** When the answer came. */
  readonly readAt: number;
}

export function RevertedBanner({ chain, height, readAt }: RevertedBannerProps) {
  const range = revertedSince(chain, Number(height), readAt);
  if (!range) return null;
  return (
    <p class="banner" role="alert" data-code="taken_back" data-testid="taken-back">
      <strong>Taken back</strong> at {shownTime(range.at, timeZone.value)}: a reorganisation removed the blocks above{' '}
      {range.toHeight} of {chain}, {range.depth} deep. What stands below is as it was before.
    </p>
  );
}
