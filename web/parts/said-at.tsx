/**
 * When the daemon said figures of an answer. No value to compare with the answer: whoever asks makes the service ask the daemon anew, so
 * the next answer to the same question has another one.
 */
import { now } from '../state/clock.ts';
import { timeZone } from '../state/settings.ts';
import { shownSpan, shownTime } from '../text/times.ts';

export function SaidAt({ at }: { readonly at: string | null }) {
  if (at === null) return <span class="none">– the daemon was not asked yet</span>;
  const milliseconds = Date.parse(at);
  return (
    <time dateTime={at} data-derived="figures-at">
      {shownTime(milliseconds, timeZone.value)} <span class="muted">{shownSpan(now.value - milliseconds)} ago</span>
    </time>
  );
}
