import avsc from 'avsc';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { satoshisHook } from './satoshis.ts';

const LONG = 'long';
const satoshis = avsc.Type.forSchema({ type: LONG, logicalType: 'satoshis' }, { typeHook: satoshisHook });
const long = avsc.Type.forSchema(LONG);

it('writes and reads every int64', () => {
  fc.assert(
    fc.property(fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n), (value) => {
      expect(satoshis.fromBuffer(satoshis.toBuffer(value))).toBe(value);
    }),
    { numRuns: 2000 },
  );
});

// Above 2^52 avsc's own long is not exact, because it doubles the number.
it('writes the bytes of a plain Avro long', () => {
  fc.assert(
    fc.property(fc.integer({ min: -(2 ** 52), max: 2 ** 52 }), (value) => {
      expect(satoshis.toBuffer(BigInt(value))).toEqual(long.toBuffer(value));
    }),
    { numRuns: 2000 },
  );
});

// The limits of exact doubles and of int64; the bytes follow the Avro specification's zigzag coding.
it.each([
  [0n, '00'],
  [-1n, '01'],
  [64n, '8001'],
  [2n ** 52n - 1n, 'feffffffffffff0f'],
  [2n ** 52n, '8080808080808010'],
  [-(2n ** 52n), 'ffffffffffffff0f'],
  [2n ** 63n - 1n, 'feffffffffffffffff01'],
  [-(2n ** 63n), 'ffffffffffffffffff01'],
])('%s is %s', (value, bytes) => {
  expect(satoshis.toBuffer(value).toString('hex')).toBe(bytes);
  expect(satoshis.fromBuffer(Buffer.from(bytes, 'hex'))).toBe(value);
});

it.each([2n ** 63n, -(2n ** 63n) - 1n, 5, '5'])('refuses %s', (value) => {
  expect(() => satoshis.toBuffer(value)).toThrow();
});
