/** Announcements for screen readers: at most one every three seconds, and none while updates are paused. */
import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { arrivals, notice } from '../state/live.ts';

const EVERY_MS = 3_000;
const said = signal('');

export function Announcements() {
  useEffect(() => {
    let before = arrivals.value;
    let noticeBefore = notice.value;
    const timer = setInterval(() => {
      const parts = Object.entries(arrivals.value).flatMap(([chain, count]) => {
        const fresh = count - (before[chain] ?? 0);
        return fresh > 0 ? [`${fresh} ${fresh === 1 ? 'block' : 'blocks'} on ${chain}`] : [];
      });
      if (notice.value !== null && notice.value !== noticeBefore) parts.unshift(notice.value);
      before = arrivals.value;
      noticeBefore = notice.value;
      if (parts.length > 0) said.value = parts.join(', ');
    }, EVERY_MS);
    return () => clearInterval(timer);
  }, []);
  return (
    <p role="status" aria-label="Announcements" class="hidden">
      {said}
    </p>
  );
}
