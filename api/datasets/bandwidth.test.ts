import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Bandwidth, createBandwidth, MOST_TRANSFERS } from './bandwidth.ts';
import { byteRange } from './byte-range.ts';

const HOUR_MS = 3_600_000;

const begun = (bandwidth: Bandwidth, network: string, wanted: number) =>
  Array.from({ length: wanted }, () => bandwidth.begin(network)).filter(Boolean).length;

describe('bandwidth', () => {
  it('refuses once the allowance is used up, and allows again after the announced time', () => {
    let now = 0;
    const bandwidth = createBandwidth(3_600_000, () => now);
    expect(bandwidth.take('a', 3_000_000)).toBe(0);
    expect(bandwidth.take('a', 1_000_000)).toBe(0); // something was left
    const seconds = bandwidth.take('a', 1);
    expect(seconds).toBe(400);
    expect(bandwidth.take('b', 1)).toBe(0);
    now = seconds * 1000 - 1000;
    expect(bandwidth.take('a', 1)).toBeGreaterThan(0);
    now = seconds * 1000 + 1;
    expect(bandwidth.take('a', 1)).toBe(0);
  });

  it('refunds bytes that were not sent', () => {
    const bandwidth = createBandwidth(10_000, () => 0);
    expect(bandwidth.take('a', 10_000)).toBe(0);
    bandwidth.giveBack('a', 6_000);
    expect(bandwidth.take('a', 6_000)).toBe(0);
    expect(bandwidth.take('a', 1)).toBeGreaterThan(0);
  });

  it('limits the concurrent files of a network', () => {
    const bandwidth = createBandwidth(1);
    expect(begun(bandwidth, 'a', 100)).toBe(MOST_TRANSFERS.network);
    expect(begun(bandwidth, 'b', 1)).toBe(1);
    bandwidth.end('a');
    expect(begun(bandwidth, 'a', 2)).toBe(1);
  });

  it('up to a hundred greedy networks leave a place for another one, and never exceed the total', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 1, maxLength: 100, size: 'max' }),
        (wanted) => {
          const bandwidth = createBandwidth(1);
          const all = wanted.reduce((sum, files, n) => sum + begun(bandwidth, `greedy ${n}`, files), 0);
          expect(all).toBeLessThanOrEqual(MOST_TRANSFERS.all);
          expect(begun(bandwidth, 'one more', 1)).toBe(1);
          if (wanted.length <= 8) expect(begun(bandwidth, 'another', 10)).toBe(10);
        },
      ),
    );
  });

  it('charges the rest of an admitted answer even if less is left', () => {
    const bandwidth = createBandwidth(3_600, () => 0);
    expect(bandwidth.take('a', 3_000)).toBe(0);
    bandwidth.takeMore('a', 6_000);
    expect(bandwidth.take('a', 1)).toBe(5_400);
  });

  it('over any number of hours a network fetches at most that many allowances, one more, and the largest answer', () => {
    const requests = fc.array(fc.record({ wait: fc.nat(HOUR_MS), bytes: fc.nat(2_000_000) }), {
      minLength: 1,
      maxLength: 100,
    });
    fc.assert(
      fc.property(requests, (asked) => {
        let now = 0;
        const perHour = 1_000_000;
        const bandwidth = createBandwidth(perHour, () => now);
        let [sent, largest] = [0, 0];
        for (const { wait, bytes } of asked) {
          now += wait;
          if (bandwidth.take('a', bytes) > 0) continue;
          sent += bytes;
          largest = Math.max(largest, bytes);
          expect(sent).toBeLessThanOrEqual((now / HOUR_MS + 1) * perHour + largest);
        }
      }),
    );
  });
});

describe('ranges', () => {
  it('lie within the file, or there is none', () => {
    const header = fc.oneof(
      fc.tuple(fc.option(fc.nat(200)), fc.option(fc.nat(200))).map(([from, to]) => `bytes=${from ?? ''}-${to ?? ''}`),
      fc.string(),
    );
    fc.assert(
      fc.property(header, fc.integer({ min: 1, max: 150 }), (text, size) => {
        const range = byteRange(text, size);
        if (range === null || range === 'unsatisfiable') return;
        expect(range.from).toBeGreaterThanOrEqual(0);
        expect(range.to).toBeGreaterThanOrEqual(range.from);
        expect(range.to).toBeLessThan(size);
      }),
    );
  });
});
