import fc from 'fast-check';
import { LosslessNumber } from 'lossless-json';
import { describe, expect, it } from 'vitest';
import { parseExact, stringifyExact } from './exact-json.ts';

/** Returns what JSON.parse would return for the same text. */
function rounded(value: unknown): unknown {
  if (value instanceof LosslessNumber) return Number(value.value);
  if (Array.isArray(value)) return value.map(rounded);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, rounded(member)]));
}

describe('parseExact', () => {
  it.each([
    ['1000000000000000000', '1000000000000000000'],
    ['9223372036854775807', '9223372036854775807'],
    ['1.00000000', '1.00000000'],
    ['-0.00000001', '-0.00000001'],
    ['1e-8', '1e-8'],
    ['1E+8', '1E+8'],
    ['1e3', '1e3'],
    ['1234567890123456', '1234567890123456'],
    ['-1234567890123456', '-1234567890123456'],
  ])('keeps the text of %s', (text, kept) => {
    const value = (parseExact(`{"a":[${text}]}`) as { a: [LosslessNumber] }).a[0];
    expect(value).toBeInstanceOf(LosslessNumber);
    expect(value.value).toBe(kept);
  });

  it.each(['0', '-1', '123456789012345', '-123456789012345'])('makes %s a number', (text) => {
    expect(parseExact(text)).toBe(Number(text));
    expect(parseExact(` { "a" : ${text} } `)).toEqual({ a: Number(text) });
  });

  it('reads any JSON as JSON.parse does, except for numbers that a double cannot represent', () => {
    fc.assert(
      fc.property(fc.json(), fc.constantFrom(undefined, 1, '\t', '\r\n '), (text, space) => {
        const printed = JSON.stringify(JSON.parse(text), null, space);
        expect(rounded(parseExact(printed))).toEqual(JSON.parse(printed));
      }),
      { numRuns: 2000 },
    );
  });

  it('distinguishes numbers from strings that look like numbers or like its own marked strings', () => {
    const hostile = fc.string({ unit: fc.constantFrom(':', '[', ',', '"', '\\', '\x7f', '1', '.5', ' ', '\n', '{') });
    const value = fc.letrec((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        hostile,
        fc.double({ noNaN: true }),
        fc.array(tie('value')),
        tie('object'),
      ),
      object: fc.dictionary(hostile, tie('value')),
    })).value;
    const escaped = (text: string) => text.replaceAll('\x7f', '\\u007F');
    const twice = (text: string) => `{"a":${text},"a":${text}}`;
    fc.assert(
      fc.property(value, fc.constantFrom(String, escaped, twice), (written, as) => {
        const text = as(JSON.stringify(written));
        expect(rounded(parseExact(text))).toEqual(JSON.parse(text));
      }),
      { numRuns: 2000 },
    );
  });

  it('takes no longer for a text full of its own marks', () => {
    const long = '\x7f'.repeat(1 << 20);
    const numbers = Array.from({ length: 10_000 }, (_, index) => `${index}.5`);
    for (const written of [long, long.slice(0, 1 << 17).replaceAll('\x7f', '\\u007F')]) {
      const [text, , [first]] = parseExact(`["${written}",1,[${numbers}],{"${written}":1.5}]`) as [
        string,
        1,
        [unknown],
      ];
      expect(text.replaceAll('\x7f', '')).toBe('');
      expect(first).toEqual(new LosslessNumber('0.5'));
    }
  });

  it('prints any JSON back as it was written', () => {
    const number = fc.oneof(
      fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }).map(String),
      fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => JSON.stringify(value)),
      fc.tuple(fc.bigInt({ min: 0n, max: 10n ** 12n }), fc.nat(99_999_999)).map(([coins, rest]) => {
        return `${coins}.${String(rest).padStart(8, '0')}`;
      }),
    );
    const text = fc.letrec((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        number,
        fc.string({ unit: 'binary' }).map((value) => JSON.stringify(value)),
        fc.constantFrom('true', 'false', 'null'),
        fc.array(tie('value')).map((items) => `[${items.join(',')}]`),
        fc
          .uniqueArray(fc.tuple(fc.string(), tie('value')), { selector: ([key]) => key })
          .map((members) => members.filter(([key]) => !/^(0|[1-9]\d*)$/.test(key)))
          .map((members) => `{${members.map(([key, value]) => `${JSON.stringify(key)}:${value}`).join(',')}}`),
      ),
    }));
    fc.assert(
      fc.property(text.value, (written) => {
        expect(stringifyExact(parseExact(String(written)))).toBe(String(written) === '-0' ? '0' : written);
      }),
      { numRuns: 2000 },
    );
  });

  it.each(['"\\""', '"\\\\"', '"\\\\\\""', '"\\u0041\\n\\/"', '""'])('reads the string %s', (text) => {
    expect(parseExact(text)).toBe(JSON.parse(text));
    expect(parseExact(`[${text},${text}]`)).toEqual(JSON.parse(`[${text},${text}]`));
  });

  it('treats __proto__ like any other key, and keeps the last value of a repeated key', () => {
    const value = parseExact('{"__proto__":{"a":1},"b":1,"b":2}') as Record<string, unknown>;
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(Object.keys(value)).toEqual(['__proto__', 'b']);
    expect(value.b).toBe(2);
  });

  it.each([
    ['{"a":{"x":1.5},"a":{"x":7}}', { a: { x: 7 } }],
    ['{"a":1.5,"a":{"b":2.5}}', { a: { b: new LosslessNumber('2.5') } }],
    ['{"a":[1.5,{}],"a":{"0":7,"1":1.5}}', { a: { 0: 7, 1: new LosslessNumber('1.5') } }],
    ['{"a":{"b":1.5},"a":null,"c":1.0}', { a: null, c: new LosslessNumber('1.0') }],
  ])('gives no value the numbers of another in %s', (text, value) => {
    expect(parseExact(text)).toEqual(value);
  });

  it.each([
    '',
    '{',
    '[1,]',
    '{"a":1,}',
    '01',
    '1.',
    '.5',
    '+1',
    '-',
    '1e',
    "'a'",
    '"\n"',
    '"a',
    'nul',
    '1 2',
    '{a:1}',
    '[1}',
    '{1.5:2}',
    '{"a":1,1.5:2}',
    '[1.]',
    '[01.5]',
    '[-]',
    '[1.5"a"]',
    '["a]',
  ])('refuses %j', (text) => {
    expect(() => parseExact(text)).toThrow(SyntaxError);
  });
});

describe('stringifyExact', () => {
  it('prints any value as JSON.stringify does', () => {
    const anything = fc.anything({
      withDate: true,
      withNullPrototype: true,
      withSparseArray: true,
      stringUnit: 'binary',
      maxDepth: 4,
    });
    fc.assert(
      fc.property(anything, (value) => {
        const text = JSON.stringify(value);
        if (text === undefined) expect(() => stringifyExact(value)).toThrow(TypeError);
        else expect(stringifyExact(value)).toBe(text);
      }),
      { numRuns: 5000 },
    );
  });

  it('prints bigints as integers', () => {
    expect(stringifyExact({ a: [2n ** 64n, -1n] })).toBe('{"a":[18446744073709551616,-1]}');
  });
});
