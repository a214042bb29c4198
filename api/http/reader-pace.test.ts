import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Patience } from './reader-pace.ts';

it('waits for a reader as long as the pace allows for what it has taken, and never longer than that at once', () => {
  const steps = fc.array(fc.record({ ms: fc.nat(20_000), bytes: fc.nat(1_000_000) }), { maxLength: 50 });
  fc.assert(
    fc.property(steps, (taken) => {
      const patience = new Patience({ bytesPerSecond: 1_000, overMs: 30_000 });
      let [waited, bytes] = [0, 0];
      for (const step of taken) {
        patience.waited(step.ms);
        if (patience.leftMs === 0) return;
        patience.took(step.bytes);
        [waited, bytes] = [waited + step.ms, bytes + step.bytes];
        expect(waited).toBeLessThan(30_000 + bytes);
        expect(patience.leftMs).toBeLessThanOrEqual(30_000);
      }
    }),
  );
});

it('a reader at the pace is waited for without end', () => {
  const patience = new Patience({ bytesPerSecond: 1_000, overMs: 30_000 });
  for (let n = 0; n < 1_000; n++) {
    patience.waited(1_000);
    patience.took(1_000);
    expect(patience.leftMs).toBe(30_000);
  }
});
