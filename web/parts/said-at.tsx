/**
 * When the daemon reported the figures of an answer. Marked as derived, not compared with the API: each request makes the service ask the
 * daemon again, so the next answer to the same request has a different time.
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
