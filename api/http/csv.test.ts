import fc from 'fast-check';
import { LosslessNumber } from 'lossless-json';
import { describe, expect, it } from 'vitest';
import { readCsv } from '../../test/support/api/http/read-csv.ts';
import { csvLine } from './csv.ts';

const NUMBER = /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i;

it.each([
  [['a', 1, null, true, undefined], 'a,1,,true,\r\n'],
  [['a,b', 'say "x"', 'two\nlines'], '"a,b","say ""x""","two\nlines"\r\n'],
  [
    [new LosslessNumber('0.10000000'), new LosslessNumber('90071992547409.91000001')],
    '0.10000000,90071992547409.91000001\r\n',
  ],
  [[[{ a: 1 }], ''], '"[{""a"":1}]",\r\n'],
  [[], '\r\n'],
  [['=1+1', '@SUM(A1)', "it's", "'quoted"], "'=1+1,'@SUM(A1),it's,''quoted\r\n"],
  [['+1', '-x', '\t=1', ' =1', '=a,b\n"c"'], `'+1,'-x,"'\t=1",' =1,"'=a,b\n""c"""\r\n`],
  [['-1.5', '-100000000', -1.5, new LosslessNumber('-0.10000000')], '-1.5,-100000000,-1.5,-0.10000000\r\n'],
  // Numbers such as -1e-7 under numbers=text.
  [['-1e-7', '-1.5E+22', '1e21', '-1e', '-1e7+1', '-e7'], "-1e-7,-1.5E+22,1e21,'-1e,'-1e7+1,'-e7\r\n"],
  [['a;=1+1', 'a\t=1+1'], '"a;=1+1","a\t=1+1"\r\n'],
])('%j', (values, line) => expect(csvLine(values)).toBe(line));

describe('texts that a spreadsheet would run', () => {
  const sign = fc.constantFrom(...'=+-@＝＋－＠﹦﹢﹣﹫−–—⁺₌|');
  const unseen = fc.constantFrom(
    ' ',
    '\t',
    '\r',
    '\n',
    '\u0000',
    '\u00a0',
    '\u3000',
    '\ufeff',
    '\u200b',
    '\u00ad',
    '\u2060',
  );
  const leading = fc.array(unseen, { maxLength: 4 }).map((parts) => parts.join(''));
  const anything = fc.string({ unit: 'binary', maxLength: 12 });
  const dangerous = fc.tuple(leading, sign, anything).map((parts) => parts.join(''));
  const quoted = fc.tuple(fc.constantFrom("'", "''"), fc.oneof(dangerous, anything)).map((parts) => parts.join(''));
  const text = fc.oneof(dangerous, quoted, anything, fc.constantFrom('-1.5', '-0', '1e5', '-1.5 ', '-', '=', ''));
  /** Restores a text as the description of the parameter `format` advises. */
  const restored = (cell: string) => (cell.startsWith("'") ? cell.slice(1) : cell);

  it('are restored exactly by removing one leading apostrophe', () => {
    fc.assert(
      fc.property(fc.array(text, { minLength: 1, maxLength: 5 }), (texts) => {
        expect(readCsv(csvLine(texts)).map((row) => row.map(restored))).toEqual([texts]);
      }),
    );
  });

  it('begin no cell, whatever invisible characters precede the sign and whatever form it has', () => {
    fc.assert(
      fc.property(text, (value) => {
        const [[cell = ''] = []] = readCsv(csvLine([value]));
        if (NUMBER.test(cell)) return;
        const shown = cell.normalize('NFKC').replace(/^[\s\p{C}]+/u, '');
        expect(shown).not.toMatch(/^[=+\-@−|]/u);
        expect(cell).not.toMatch(/^[\t\r\n]/);
      }),
    );
  });

  it('are changed, and other texts are not', () => {
    fc.assert(
      fc.property(dangerous, (value) => {
        if (!NUMBER.test(value)) expect(csvLine([value])).toMatch(/^"?'/);
      }),
    );
    for (const plain of ['alice@', 'Bridge.vETH', 'é=', '😀', '(x)', '#1', '0', 'a', '漢字'])
      expect(csvLine([plain])).toBe(`${plain}\r\n`);
  });
});
