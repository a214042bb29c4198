import fc from 'fast-check';
import { expect, it } from 'vitest';
import { collectGarbage } from '../test/support/collect-garbage.ts';
import { ownText } from './own-text.ts';

it('returns the same text for any characters', () => {
  fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => ownText(text) === text));
  expect(ownText('\ud800 alone')).toBe('\ud800 alone');
});

it('does not keep the text that it was cut from', () => {
  const MB = 1024 * 1024;
  const kept: string[] = [];
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  for (let count = 0; count < 30; count++) {
    const whole = Buffer.alloc(4 * MB, `${count} of many `).toString('utf8');
    kept.push(ownText(whole.slice(100, 150)));
  }
  collectGarbage();
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(20 * MB);
  expect(new Set(kept).size).toBe(30);
});
