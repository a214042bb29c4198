import { expect, it } from 'vitest';
import { createProgressLine } from './progress-line.ts';

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
