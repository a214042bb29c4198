import fc from 'fast-check';
import { expect, it } from 'vitest';
import { leftOutOf } from './room.ts';

const one = fc.record({ rate: fc.nat({ max: 5 }), bytes: fc.integer({ min: 1, max: 100 }) });

it('leaves out the lowest fee rates, no more than necessary, and the same transactions in any order', () => {
  fc.assert(
    fc.property(fc.array(one), fc.nat({ max: 20 }), fc.nat({ max: 500 }), (made, transactions, bytes) => {
      const all = made.map((weighed, index) => ({ ...weighed, txid: String(index).padStart(3, '0') }));
      const out = leftOutOf(all, { transactions, bytes });
      const kept = all.filter(({ txid }) => !out.has(txid));
      const sum = kept.reduce((total, { bytes: own }) => total + own, 0);
      expect(kept.length).toBeLessThanOrEqual(transactions);
      expect(sum).toBeLessThanOrEqual(bytes);
      const leastKept = Math.min(...kept.map(({ rate }) => rate));
      const left = all
        .filter(({ txid }) => out.has(txid))
        .sort((a, b) => b.rate - a.rate || (a.txid < b.txid ? -1 : 1));
      expect(left.every(({ rate }) => rate <= leastKept)).toBe(true);
      const [next] = left;
      if (next) expect(kept.length === transactions || sum + next.bytes > bytes).toBe(true);
      expect(leftOutOf([...all].reverse(), { transactions, bytes })).toEqual(out);
    }),
  );
});
