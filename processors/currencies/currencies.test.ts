import { describe, expect, test } from 'vitest';
import { stringifyExact } from '../../domain/json/exact-json.ts';
import type { CurrencyFact } from '../../schemas/facts.ts';
import { block, decodedAs, output, transaction } from '../../test/support/processors/blocks.ts';
import { recordedTruth } from '../../test/support/processors/recorded-chain.ts';
import { foldRecording } from '../../test/support/processors/recorded-fold.ts';
import { validateFacts } from '../faults/validate-facts.ts';
import type { ChainContext } from '../state/chain-state.ts';
import { createMemoryState } from '../state/memory-state.ts';
import { deriveCurrencies } from './currencies.ts';

describe('recorded', () => {
  const facts = foldRecording().all('currency');
  const { currencies } = recordedTruth<{ currencies: Record<string, Record<string, unknown>> }>('truth/supply.json');
  const defined = Object.values(currencies).filter(({ definitiontxid }) => definitiontxid !== undefined);

  test('every currency that was defined is derived, and no other', () => {
    expect(new Set(facts.map(({ currencyId }) => currencyId))).toEqual(
      new Set(defined.map(({ currencyid }) => currencyid)),
    );
    expect(facts).toHaveLength(11);
  });

  test('fields, place and full name are those of getcurrency', () => {
    for (const printed of defined) {
      const fact = facts.find(({ currencyId }) => currencyId === printed.currencyid);
      expect(fact).toMatchObject({
        name: printed.name,
        fullyQualifiedName: printed.fullyqualifiedname,
        parent: printed.parent,
        systemId: printed.systemid,
        options: printed.options,
        startBlock: printed.startblock,
        txid: printed.definitiontxid,
        vout: printed.definitiontxout,
        currencyType: (printed.options as number) & 1 ? 'basket' : 'token',
      });
      const definition = JSON.parse(fact?.definition ?? '{}') as Record<string, unknown>;
      for (const field of Object.keys(definition)) {
        expect(definition[field], field).toEqual(JSON.parse(stringifyExact(printed[field])));
      }
    }
  });
});

describe('made up', () => {
  const VRSC = 'i5w5MuNik5NtLcYmNzcvaoixooEebB6MGV';
  const root: ChainContext = { name: 'vrsc', nativeCurrencyId: VRSC, networkRoot: 'VRSC' };
  const define = (chain: ChainContext, definitions: string[], known: Partial<CurrencyFact>[] = []) => {
    const state = createMemoryState(chain);
    for (const currency of known) state.put({ type: 'currency', ...currency } as CurrencyFact);
    const outputs = definitions.map((definition, n) => output(n, '0', decodedAs('currencydefinition', definition)));
    return deriveCurrencies({ block: block(1, [transaction('t', [], outputs)]), clock: 0 }, state);
  };
  const definition = (currencyId: string, name: string, parent: string | null, options: number, more = '') =>
    `{"currencyid":"${currencyId}","name":"${name}"${parent ? `,"parent":"${parent}"` : ''},"options":${options}${more}}`;

  test.each([
    ['token', 32, ''],
    ['basket', 33, ''],
    ['basket', 0x221, ''],
    ['pbaas_chain', 264, ''],
    ['gateway', 128, ',"nativecurrencyid":{"address":"0x0","type":9}'],
    ['mapped', 32, ',"nativecurrencyid":{"address":"0x6b","type":9}'],
  ])('%s: options %i%s', (type, options, more) => {
    expect(define(root, [definition('iX', 'x', VRSC, options, more)])[0]?.currencyType).toBe(type);
  });

  test.each([
    [2 ** 31 + 33, 33],
    [2 ** 32 - 1, 2 ** 31 - 1],
  ])('options %i fit the stores without their highest bit', (options, stored) => {
    const [fact] = define(root, [definition('iX', 'x', VRSC, options)]);
    expect(fact).toMatchObject({ options: stored, currencyType: 'basket' });
    expect(fact?.definition).toContain(`"options":${options}`);
    expect(() => validateFacts([{ ...(fact as CurrencyFact), txid: '0'.repeat(64) }])).not.toThrow();
  });

  test.each([
    [-1, 0],
    [2 ** 31, 2 ** 31 - 1],
  ])('start block %i is stored as the nearest height, and kept as printed in the definition', (printed, stored) => {
    const [fact] = define(root, [definition('iX', 'x', VRSC, 32, `,"startblock":${printed}`)]);
    expect(fact?.startBlock).toBe(stored);
    expect(fact?.definition).toContain(`"startblock":${printed}`);
  });

  test('the chain’s own currency is native, whatever its options, and is its own system when it names none', () => {
    const [fact] = define(root, [definition(VRSC, 'VRSC', null, 264)]);
    expect(fact).toMatchObject({ currencyType: 'native', parent: null, fullyQualifiedName: 'VRSC', systemId: VRSC });
  });

  test('the name of a bridged currency ends with its gateway, without the root', () => {
    const gateway = { currencyId: 'iE', fullyQualifiedName: 'vETH' };
    expect(define(root, [definition('iD', 'DAI', 'iE', 32)], [gateway])[0]?.fullyQualifiedName).toBe('DAI.vETH');
  });

  test('block 1 of a chain may define children before their parents', () => {
    const chain = { name: 'varrr', nativeCurrencyId: 'iP', networkRoot: 'VRSC' };
    const names = define(chain, [
      definition('iS', 'sub', 'iB', 32),
      definition('iB', 'Bridge', 'iP', 545),
      definition('iP', 'vARRR', VRSC, 264),
      definition(VRSC, 'VRSC', null, 264),
    ]).map(({ fullyQualifiedName }) => fullyQualifiedName);
    expect(names).toEqual(['sub.Bridge.vARRR', 'Bridge.vARRR', 'vARRR', 'VRSC']);
  });

  test('a parent that the chain does not know keeps its address', () => {
    expect(define(root, [definition('iD', 'x', 'iUnknown', 32)])[0]?.fullyQualifiedName).toBe('x.iUnknown');
  });

  test('a name may contain a NUL, which the stores cannot keep', () => {
    const facts = define(root, [definition('iX', 'x\\u0000y', VRSC, 32, ',"startblock":5')]).map((fact) => ({
      ...fact,
      txid: '00',
    }));
    expect(() => validateFacts(facts)).not.toThrow();
    expect(facts).toMatchObject([{ name: 'x\ufffdy', fullyQualifiedName: 'x\ufffdy' }]);
    expect(facts[0]?.definition).toContain('"name":"x\\u0000y"');
  });

  test('a definition that could not be decoded is not a currency', () => {
    expect(define(root, ['"invalid"', '{"name":"x"}'])).toEqual([]);
  });
});
