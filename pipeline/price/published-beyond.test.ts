import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createPublishedBeyond, type PublishedEntry } from './published-beyond.ts';

const hashOf = (seed: number) => createHash('sha256').update(String(seed)).digest('hex');
const actions = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant('push'), count: fc.integer({ min: 1, max: 100 }) }),
    fc.record({ kind: fc.constantFrom('shift', 'truncate', 'correct'), count: fc.nat({ max: 80 }) }),
  ),
);

it('is a list of entries, each with a digest of the published list', () => {
  fc.assert(
    fc.property(actions, (script) => {
      const published = createPublishedBeyond();
      let plain: (PublishedEntry & { readonly list: Uint8Array })[] = [];
      let seed = 0;
      for (const { kind, count } of script) {
        if (kind === 'push') {
          for (let index = 0; index < count; index++) {
            seed++;
            const entry = { position: seed, source: 2 * seed, hash: hashOf(seed), provisional: seed % 2 === 0 };
            const list = Buffer.from(`list ${seed}`);
            published.push(entry, list);
            plain.push({ ...entry, latest: seed, list });
          }
        } else if (kind === 'shift') {
          published.shift(count);
          plain = plain.slice(count);
        } else if (kind === 'correct') {
          const entry = plain[count];
          if (!entry) continue;
          seed++;
          const correction = { latest: seed, provisional: seed % 3 === 0 };
          const list = Buffer.from(`list ${seed}`);
          published.correct(count, correction, list);
          plain = plain.with(count, { ...entry, ...correction, list });
        } else {
          published.truncate(count);
          plain = plain.slice(0, count);
        }
      }
      expect(published.length).toBe(plain.length);
      for (const [index, { list, ...entry }] of plain.entries()) {
        expect(published.at(index)).toEqual(entry);
        expect(published.isAlike(index, entry.hash, list)).toBe(true);
        expect(published.isAlike(index, entry.hash, Buffer.from('other'))).toBe(false);
        expect(published.isAlike(index, hashOf(0), list)).toBe(false);
      }
      expect(published.at(plain.length)).toBeUndefined();
    }),
  );
});
