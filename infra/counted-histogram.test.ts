import fc from 'fast-check';
import { Histogram, Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { createCountedHistogram } from './counted-histogram.ts';

it('prints the same as the histogram of prom-client for the same observations', async () => {
  const label = fc.constantFrom('/api/', 'with "quotes"', 'back\\slash', 'line\nbreak');
  const value = fc.oneof(fc.constantFrom(0, 0.5, 1, 2.5, 3), fc.double({ min: 0, max: 10, noNaN: true }));
  await fc.assert(
    fc.asyncProperty(fc.array(fc.record({ label, value })), async (observations) => {
      const [ours, theirs] = [new Registry(), new Registry()];
      const named = { name: 'seconds', help: 'how long', buckets: [0.5, 1, 2.5] };
      const counted = createCountedHistogram<'route'>({ ...named, registers: [ours] });
      const own = new Histogram({ ...named, labelNames: ['route'], registers: [theirs] });
      for (const each of observations) {
        counted.series({ route: each.label }).observe(each.value);
        own.observe({ route: each.label }, each.value);
      }
      expect(await ours.metrics()).toBe(await theirs.metrics());
    }),
  );
});
