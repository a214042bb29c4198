/** Titles keep characters whole, and the calls of a view stay right in a tab that is left open. */
import { afterEach, expect, it, vi } from 'vitest';
import { shortened, views } from './views.ts';

afterEach(() => void vi.useRealTimers());

it('a long name is shortened between its characters', () => {
  const name = `1234567👍 and then ${'9'.repeat(20)} 👍1234567`;
  expect(shortened(name)).toBe('1234567👍…👍1234567');
  expect(shortened('👍'.repeat(20))).toBe('👍'.repeat(20));
});

it.each(['minute', 'hour', 'day'])('the usage of the newest span by %s is the same call at any time', (step) => {
  vi.useFakeTimers();
  const urls = () => views.usage.calls({}, new URLSearchParams({ step })).map(({ url }) => url);
  const first = urls();
  vi.advanceTimersByTime(86_400_000);
  expect(urls()).toEqual(first);
});

it('the whole kept usage is asked for from its start', () => {
  vi.useFakeTimers({ now: 1_800_000_000_000 });
  const [, byKey] = views.usage.calls({}, new URLSearchParams({ step: 'hour', span: 'all' }));
  expect(new URLSearchParams(byKey.url.split('?')[1]).get('from')).toBe(String(1_800_000_000 + 3_600 - 30 * 86_400));
});
