import { afterEach, expect, it, vi } from 'vitest';
import { createDigestLines, createPacing, createProgressLine } from './progress-line.ts';

afterEach(() => void vi.useRealTimers());

it('prints position, rate and time left every five seconds', () => {
  let now = 0;
  const lines: string[] = [];
  const show = createProgressLine(
    (line) => lines.push(line),
    () => now,
  );
  const numbers = { height: 4999, targetHeight: 9999, rate: 250.4, etaSeconds: 20 };
  for (now of [0, 4_999, 5_000, 9_999]) show('vrsc facts', numbers);
  now = 10_000;
  show('prices', { ...numbers, height: null, etaSeconds: null }, 'tick');
  expect(lines).toEqual([
    'vrsc facts  height 4999 of 9999, 250 blocks/s, about 20 s to go',
    'prices  tick - of 9999, 250 ticks/s',
  ]);
});

it('keeps its pace when the clock of the machine is set', () => {
  vi.useFakeTimers({ toFake: ['Date', 'performance'] });
  const isDue = createPacing({ everyMs: 1_000 });
  vi.setSystemTime(Date.now() - 3_600_000);
  vi.advanceTimersByTime(1_000);
  expect(isDue()).toBe(true);
  vi.setSystemTime(Date.now() + 7_200_000);
  vi.advanceTimersByTime(999);
  expect(isDue()).toBe(false);
});

it('repeats the digest that is being taken every five seconds, until it is over', () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
  const lines: string[] = [];
  const digests = createDigestLines((line) => lines.push(line));
  vi.advanceTimersByTime(6_000);
  expect(lines).toEqual([]);
  digests.begin({ chain: 'vrsc', of: 'served', table: 'postgres.blocks', number: 1, tables: 24 });
  vi.advanceTimersByTime(7_000);
  digests.begin({ chain: '*', of: 'derived again', table: 'clickhouse.prices', number: 4, tables: 5 });
  vi.advanceTimersByTime(5_000);
  digests.end();
  vi.advanceTimersByTime(20_000);
  expect(lines).toEqual([
    'vrsc  digest of postgres.blocks, served: table 1 of 24, for 1 s',
    'vrsc  digest of postgres.blocks, served: table 1 of 24, for 6 s',
    'prices  digest of clickhouse.prices, derived again: table 4 of 5, for 4 s',
  ]);
  digests.close();
  expect(vi.getTimerCount()).toBe(0);
});
