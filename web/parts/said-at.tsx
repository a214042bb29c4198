/**
 * When the daemon gave the figures of an answer. No value to compare with the answer: each request makes the service ask the daemon again,
 * so the next answer to the same request has another time.
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
