import { describe, expect, it } from 'vitest';
import { createChainValidator, GENERATED_CHAIN } from '../chain-validator/validate-chain.ts';
import { SEED } from '../setup/seed.ts';
import { createChain, type GeneratedChainOptions } from './chain.ts';
import { EVERYTHING, PAYMENTS } from './mixes.ts';
import { createRandom } from './random.ts';

const MINUTES = 60_000;
const SMALL = { addresses: 8, transactions: 8, rewinds: true } as const;

interface Grown {
  /** The winning branch. */
  readonly texts: readonly string[];
  /** Abandoned branches, block by block. */
  readonly left: readonly string[];
}

/** Grows to `blocks` blocks and occasionally rewinds up to a hundred. */
function grown(options: GeneratedChainOptions, blocks: number): Grown {
  const chain = createChain(options);
  const random = createRandom(options.seed);
  const texts: string[] = [];
  const left: string[] = [];
  while (chain.height < blocks) {
    if (chain.height > 1 && random.oneIn(40)) {
      const to = Math.max(0, chain.height - 1 - random.below(random.oneIn(4) ? 100 : 8));
      chain.rewind(to);
      left.push(...texts.splice(to + 1));
    }
    texts.push(chain.next().text);
  }
  return { texts, left };
}

function validated(texts: readonly string[]) {
  const validator = createChainValidator(GENERATED_CHAIN);
  for (const text of texts) validator.block(text);
  return validator;
}

const txids = (texts: readonly string[]): string[] =>
  texts.flatMap((text) => [...text.matchAll(/\{"txid":"(\w+)","overwintered":true/g)].map(([, txid]) => txid ?? ''));

describe('a generated chain', () => {
  it(`could be the daemon's: payments (TEST_SEED=${SEED})`, () => {
    expect(validated(grown({ ...SMALL, seed: SEED, mix: PAYMENTS }, 300).texts).faults).toEqual([]);
  });

  it(
    `could be the daemon's: everything, across reorganisations (TEST_SEED=${SEED})`,
    () => {
      expect(validated(grown({ ...SMALL, seed: SEED, mix: EVERYTHING }, 300).texts).faults).toEqual([]);
    },
    5 * MINUTES,
  );

  it('is the same for the same seed, and differs for another', () => {
    const { texts } = grown({ ...SMALL, seed: 1, mix: EVERYTHING }, 120);
    expect(grown({ ...SMALL, seed: 1, mix: EVERYTHING }, 120).texts).toEqual(texts);
    expect(grown({ ...SMALL, seed: 2, mix: EVERYTHING }, 120).texts).not.toEqual(texts);
  });

  it('is the same up to the block to which it rewinds, and differs afterwards', () => {
    const chain = createChain({ ...SMALL, seed: 3, mix: EVERYTHING });
    const texts = Array.from({ length: 60 }, () => chain.next());
    expect(chain.rewind(40)).toBe(texts[40]?.hash);
    const other = chain.next();
    expect(other).toMatchObject({ height: 41, previousHash: texts[40]?.hash });
    expect(other.hash).not.toBe(texts[41]?.hash);
    expect(() => chain.rewind(42)).toThrow(RangeError);
  });

  it('includes transactions of users again on the winning branch', () => {
    const { texts, left } = grown({ ...SMALL, seed: 4, mix: EVERYTHING }, 200);
    const stayed = new Set(txids(texts));
    const back = txids(left).filter((txid) => stayed.has(txid));
    expect(back.length).toBeGreaterThan(50);
    expect(back.length).toBeLessThan(txids(left).length);
  });

  it(
    'contains everything, including hostile names',
    () => {
      const { texts } = grown({ ...SMALL, seed: 5, mix: EVERYTHING }, 600);
      const { facts, faults } = validated(texts);
      expect(faults).toEqual([]);
      const identities = ['registered', 'recovered', 'revoked', 'locked', 'unlock_requested', 'authority_changed'];
      const others = ['keys_changed', 'currency_defined', 'content_updated', 'other'];
      const settled = ['convert', 'via', 'preconvert', 'mint', 'burn'].map((kind) => `transfer ${kind} completed`);
      const refunded = ['convert', 'preconvert'].map((kind) => `transfer ${kind} refunded`);
      const currencies = ['currency token', 'currency basket'];
      const expected = [
        ...[...identities, ...others].map((kind) => `identity ${kind}`),
        ...settled,
        ...refunded,
        ...currencies,
      ];
      expect(expected.filter((kind) => !facts.has(kind))).toEqual([]);
      for (const name of ['__proto__', 'constructor', '🚀', 'x'.repeat(64)]) {
        expect(texts.some((text) => text.includes(`"name":"${name}"`))).toBe(true);
      }
    },
    5 * MINUTES,
  );
});
