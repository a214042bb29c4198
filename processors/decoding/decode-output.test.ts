import { describe, expect, test } from 'vitest';
import { parseExact, stringifyExact } from '../../domain/json/exact-json.ts';
import { decodedAs, output, payTo } from '../../test/support/processors/blocks.ts';
import { RECORDED_CHAIN, recordedBlocks } from '../../test/support/processors/recorded-chain.ts';
import { decodeOutput, outputKind } from './decode-output.ts';

const NATIVE = RECORDED_CHAIN.nativeCurrencyId;
const USD = 'iKbuNyLVsZYADYRfhAS2KxTQYJCewHLHgg';
const ETH = 'iF3tRmjJZeTCVeAcLGjJEY9fuiNxwcu7kN';

function decode(kind: string, object: string, valueSat = '0') {
  return decodeOutput(output(0, valueSat, decodedAs(kind, object)), NATIVE);
}

describe('the value of an output', () => {
  test('can be coins alone', () => {
    expect(decodeOutput(output(1, '5000000600000000', payTo('RX')), NATIVE)).toEqual({
      value: 5000000600000000n,
      currencies: {},
      kind: 'pubkeyhash',
      addresses: ['RX'],
      data: null,
    });
  });

  test('stays exact beyond the precision of a double', () => {
    const { value, currencies } = decode(
      'reserveoutput',
      `{"version":1,"currencyvalues":{"${USD}":10000000000.00000001}}`,
      '1000000000000000003',
    );
    expect(value).toBe(1_000_000_000_000_000_003n);
    expect(currencies).toEqual({ [USD]: 1_000_000_000_000_000_001n });
  });

  test.each(['reserveoutput', 'reservedeposit', 'commitmenthash'])(
    'tokens of a %s, a native entry not again',
    (kind) => {
      const { currencies } = decode(kind, `{"version":1,"currencyvalues":{"${USD}":1e-8,"${NATIVE}":7.00000000}}`);
      expect(currencies).toEqual({ [USD]: 1n });
    },
  );

  test.each(['feepool', 'crosschainexport', 'crosschainimport', 'acceptednotarization', 'currencystate'])(
    'a %s reports and holds nothing',
    (kind) => {
      expect(decode(kind, `{"currencyvalues":{"${USD}":1},"totalamounts":{"${USD}":1}}`).currencies).toEqual({});
    },
  );

  test.each([
    ['amount and token fee of one currency add up', `{"${USD}":1.5}`, 1027, USD, { [USD]: 150_020_010n }],
    ['amount and token fee of two currencies', `{"${ETH}":1.5}`, 3, USD, { [ETH]: 150_000_000n, [USD]: 20_010n }],
    ['a native fee is in the value', `{"${USD}":1.5}`, 3, NATIVE, { [USD]: 150_000_000n }],
    ['a native amount is in the value', `{"${NATIVE}":1.5}`, 3, NATIVE, {}],
    ['a mint holds nothing', `{"${NATIVE}":1.5}`, 33, NATIVE, {}],
    ['a mint holds its token fee', `{"${ETH}":1.5}`, 33, USD, { [USD]: 20_010n }],
  ])('reserve transfer: %s', (_, values, flags, feeCurrency, held) => {
    const object = `{"version":1,"currencyvalues":${values},"flags":${flags},"feecurrencyid":"${feeCurrency}","fees":0.0002001}`;
    expect(decode('reservetransfer', object).currencies).toEqual(held);
  });

  test.each([
    ['a token', USD, { [ETH]: 150_000_000n, [USD]: 20_010n + 2_307_110n }],
    ['the native coin', NATIVE, { [ETH]: 150_000_000n }],
  ])('reserve transfer with a next leg: holds the fee of that leg, too, in %s', (_, feeCurrency, held) => {
    const object =
      `{"version":1,"currencyvalues":{"${ETH}":1.50000000},"flags":3,"convert":true,"feecurrencyid":"${feeCurrency}","fees":0.00020010,` +
      `"destination":{"address":"RX","gateway":"iGateway","fees":0.02307110,"type":130}}`;
    expect(decode('reservetransfer', object).currencies).toEqual(held);
  });

  test.each(['"invalid"', '""'])('an object that the daemon could not decode (%s) holds nothing', (text) => {
    const decoded = decode('reserveoutput', text, '5');
    expect(decoded).toMatchObject({ value: 5n, currencies: {}, kind: 'reserveoutput' });
    expect(decoded.data).toBe(text === '"invalid"' ? text : null);
  });

  test('counts once for an address that is listed three times', () => {
    const decoded = decodeOutput(output(0, '1', decodedAs('identityprimary', '{}', ['iA', 'iA', 'iB'])), NATIVE);
    expect(decoded.addresses).toEqual(['iA', 'iB']);
  });
});

describe('kind', () => {
  test('is not a tag before the decoded key', () => {
    expect(outputKind({ type: 'cryptocondition', vdxftag: 'x', reserveoutput: {}, hex: '' })).toBe('reserveoutput');
  });
  test('is the script type when nothing was decoded', () => {
    expect(outputKind({ type: 'nulldata', spendableoutput: false, hex: '' })).toBe('nulldata');
  });
});

test('data of every recorded output is the daemon’s object, number tokens included', () => {
  let objects = 0;
  for (const { tx } of recordedBlocks()) {
    for (const made of tx.flatMap(({ vout }) => vout)) {
      const { kind, data } = decodeOutput(made, NATIVE);
      const printed = made.scriptPubKey[kind];
      if (typeof printed !== 'object') expect(data).toBeNull();
      else expect(data).toBe(stringifyExact(printed));
      if (data === null) continue;
      expect(stringifyExact(parseExact(data))).toBe(data);
      objects += 1;
    }
  }
  expect(objects).toBe(3273);
});
