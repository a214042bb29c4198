import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isDaemonJson } from './json-scan.ts';
import {
  daemonPrint,
  daemonString,
  eachPart,
  elementTexts,
  endOfValue,
  rawMember,
  rawMembers,
  rawStrings,
} from './raw-json.ts';

const json = fc.jsonValue({ maxDepth: 4 });
/** A value and its text with any indentation. */
const spaced = fc.tuple(json, fc.constantFrom('', ' ', '\t', '\n  ')).map(([value, space]) => ({
  value,
  text: JSON.stringify(value, null, space),
}));

describe('spans', () => {
  test('endOfValue finds the end of a value, whatever follows', () => {
    fc.assert(
      fc.property(spaced, fc.constantFrom(',"x"', ']', '}', ' ', '\n', ''), ({ text }, rest) => {
        expect(endOfValue(text + rest, 0)).toBe(text.length);
      }),
    );
  });

  test('members and elements keep their text', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.string(), spaced)), fc.constantFrom('', ' ', '\r\n'), (entries, space) => {
        const members = entries.map(([key, { text }]) => `${JSON.stringify(key)}${space}:${space}${text}`);
        const object = `{${space}${members.join(`${space},${space}`)}${space}}`;
        const read = rawMembers(object, 0).map(({ key, start, end }) => [key, object.slice(start, end)]);
        expect(read).toEqual(entries.map(([key, { text }]) => [key, text]));
        const array = `[${space}${entries.map(([, { text }]) => text).join(`${space},${space}`)}${space}]`;
        expect(elementTexts(array)).toEqual(entries.map(([, { text }]) => text));
      }),
    );
  });

  test('eachPart reads the elements of the named arrays as members, and everything else as eachMember does', () => {
    const entry = fc.tuple(fc.constantFrom('vin', 'vout', 'x'), spaced);
    fc.assert(
      fc.property(fc.array(entry), fc.constantFrom('', ' ', '\r\n'), (entries, space) => {
        const members = entries.map(([key, { text }]) => `"${key}"${space}:${space}${text}`);
        const object = `{${space}${members.join(`${space},${space}`)}${space}}`;
        const expected = entries.flatMap(([key, { text }]) => {
          const isList = key !== 'x' && text.startsWith('[');
          return isList ? elementTexts(text).map((element) => [key, element]) : [[key, text]];
        });
        const read = [...eachPart(object, 0, ['vin', 'vout'])];
        expect(read.map(({ key, start, end }) => [key, object.slice(start, end)])).toEqual(expected);
      }),
    );
  });

  test('rawMember finds the first of a repeated key, also when it is written with escapes', () => {
    expect(rawMember('{"\\u0061":1,"a":2}', 'a')).toBe('1');
    expect(rawMember('{"b":1}', 'a')).toBeUndefined();
  });

  test('rawStrings finds every string, and whether it is a key', () => {
    const text = '{"a" : ["b:", {"\\u0063":"d\\"e"}], "f":1}';
    expect([...rawStrings(text)].map(({ value, isKey }) => [value, isKey])).toEqual([
      ['a', true],
      ['b:', false],
      ['c', true],
      ['d"e', false],
      ['f', true],
    ]);
  });

  test('any depth', () => {
    const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
    expect(isDaemonJson(deep)).toBe(true);
    expect(endOfValue(`${deep},`, 0)).toBe(deep.length);
    expect(daemonPrint(deep)).toBe(deep);
  });
});

describe('the daemon as reader and printer', () => {
  test('printing keeps the value and the text of numbers, and drops whitespace', () => {
    fc.assert(
      fc.property(spaced, ({ value, text }) => {
        const printed = daemonPrint(text);
        expect(JSON.parse(printed)).toEqual(JSON.parse(text));
        expect(printed).toBe(daemonPrint(JSON.stringify(value)));
      }),
    );
    expect(daemonPrint(' { "a" : [ 1.0 , 1e3 , 12345678901234567890 ] } ')).toBe(
      '{"a":[1.0,1e3,12345678901234567890]}',
    );
  });

  test('strings', () => {
    expect(daemonString('é\n"\\/\u007f\u0001☕')).toBe('"é\\n\\"\\\\/\\u007f\\u0001☕"');
    expect(daemonPrint('"\\u00e9\\/"')).toBe('"é/"');
  });

  test('half a surrogate pair is refused', () => {
    expect(isDaemonJson('"\\ud83d\\ude00"')).toBe(true);
    expect(isDaemonJson('["ok","\\ud83d"]')).toBe(false);
    expect(isDaemonJson('{"\\ude00\\ud83d":1}')).toBe(false);
    expect(isDaemonJson('"\\\\ud83d"')).toBe(true);
  });

  test.each(['', '{', '[1,]', '01', '1.', '{"a":1}x', "'a'", 'NaN', '"\n"', '\ufeff{}'])('not JSON: %j', (text) => {
    expect(isDaemonJson(text)).toBe(false);
  });
});
