import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Patience } from './reader-pace.ts';

it('bounds the total wait by the bytes taken at the pace, and each single wait by the averaging time', () => {
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

it('never disconnects a reader at the pace', () => {
  const patience = new Patience({ bytesPerSecond: 1_000, overMs: 30_000 });
  for (let n = 0; n < 1_000; n++) {
    patience.waited(1_000);
    patience.took(1_000);
    expect(patience.leftMs).toBe(30_000);
  }
});
