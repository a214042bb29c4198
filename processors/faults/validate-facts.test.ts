import { describe, expect, it } from 'vitest';
import { FACTS, type Fact } from '../../schemas/facts.ts';
import { madeFact } from '../../test/support/schemas/facts/made-fact.ts';
import { validateFacts } from './validate-facts.ts';

const wrong = (fact: Fact, field: object): Fact => ({ ...fact, ...field }) as Fact;

describe('a value that a store or the topic cannot represent is refused by name', () => {
  it.each([
    ['a missing value', wrong(madeFact('reward'), { address: undefined }), 'address of a reward cannot be undefined'],
    ['null for a required value', wrong(madeFact('import'), { flags: null }), 'flags of a import cannot be null'],
    ['NUL in a text', madeFact('identity', { name: 'a\0b' }), 'name of a identity cannot be "a\\u0000b"'],
    ['half a byte of hex', madeFact('transfer', { exportTxid: 'abc' }), 'exportTxid of a transfer cannot be "abc"'],
    ['a word for a number', madeFact('block', { difficulty: 'hard' }), 'difficulty of a block cannot be "hard"'],
    [
      'an unknown choice',
      wrong(madeFact('block'), { validationType: 'trust' }),
      'validationType of a block cannot be "trust"',
    ],
    ['more than int4', madeFact('identity', { flags: 2 ** 31 }), 'flags of a identity cannot be 2147483648'],
    ['less than zero', madeFact('currency', { options: -1 }), 'options of a currency cannot be -1'],
    // avsc writes it as another number.
    [
      'more than avsc can write',
      madeFact('identity', { timelock: -(2 ** 52) - 1 }),
      'timelock of a identity cannot be -4503599627370497',
    ],
    [
      'an amount beyond int64',
      madeFact('output', { currencies: { iA: 2n ** 63n } }),
      'iA of a output cannot be 9223372036854775808',
    ],
    ['an invalid id', madeFact('output', { currencies: { 'i\n': 1n } }), 'currencies of a output cannot be "i\\n"'],
    ['a text in a list', wrong(madeFact('export'), { transfers: ['a'] }), 'transfers of a export cannot be "a"'],
    [
      'a member that is missing',
      wrong(madeFact('export'), { transfers: [{ txid: 'aa' }] }),
      'vout of a export cannot be undefined',
    ],
  ])('%s', (_, fact, message) => {
    expect(() => validateFacts([fact])).toThrow(message);
  });
});

it('every fact of plain values is storable', () => {
  expect(() => validateFacts(FACTS.map(({ type }) => madeFact(type)))).not.toThrow();
});

it('an import that no export brought has the export output -1', () => {
  expect(() => validateFacts([madeFact('import', { exportVout: -1 })])).not.toThrow();
});
