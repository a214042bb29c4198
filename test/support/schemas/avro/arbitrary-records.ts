/** Arbitrary records of `blocks` and `facts`. */
import fc from 'fast-check';
import { type Fact, PUBLISHED_FACTS } from '../../../../schemas/facts.ts';
import type { BlocksRecord, FactsRecord } from '../../../../schemas/log-records.ts';
import { arbitraryFact } from '../facts/arbitrary-facts.ts';

type Arbitraries<T> = { [K in keyof T]: fc.Arbitrary<T[K]> };
const record = <T extends object>(fields: Arbitraries<T>): fc.Arbitrary<T> =>
  fc.record(fields, { noNullPrototype: true }) as fc.Arbitrary<T>;

const id = fc.string({ unit: fc.constantFrom(...'abcdefHJKMNPR123456789'), minLength: 1, maxLength: 64 });
const count = fc.nat();
const seconds = fc.nat({ max: 2 ** 40 });

export const publishedFact: fc.Arbitrary<Fact> = fc.oneof(...PUBLISHED_FACTS.map((type) => arbitraryFact(type)));

const rewind = { kind: fc.constant('rewind' as const), position: count, height: count, hash: id, fromHeight: count };

export const blocksRecord: fc.Arbitrary<BlocksRecord> = fc.oneof(
  record<BlocksRecord & { kind: 'block' }>({
    kind: fc.constant('block'),
    position: fc.nat({ max: Number.MAX_SAFE_INTEGER - 1 }), // the largest integer that avsc encodes as a number
    height: count,
    hash: id,
    previousHash: fc.option(id, { nil: null }),
    time: seconds,
    block: fc.uint8Array({ maxLength: 300 }),
  }),
  record<BlocksRecord & { kind: 'rewind' }>(rewind),
);

export const factsRecord: fc.Arbitrary<FactsRecord> = fc.oneof(
  record<FactsRecord & { kind: 'facts' }>({
    kind: fc.constant('facts'),
    position: count,
    source: count,
    height: count,
    hash: id,
    facts: fc.array(publishedFact, { maxLength: 12 }),
  }),
  record<FactsRecord & { kind: 'rewind' }>({ ...rewind, source: count }),
);
