import { LosslessNumber } from 'lossless-json';
import { expect, it } from 'vitest';
import { csvLine } from './csv.ts';

it.each([
  [['a', 1, null, true, undefined], 'a,1,,true,\r\n'],
  [['a,b', 'say "x"', 'two\nlines'], '"a,b","say ""x""","two\nlines"\r\n'],
  [
    [new LosslessNumber('0.10000000'), new LosslessNumber('90071992547409.91000001')],
    '0.10000000,90071992547409.91000001\r\n',
  ],
  [[[{ a: 1 }], ''], '"[{""a"":1}]",\r\n'],
  [[], '\r\n'],
])('%j', (values, line) => expect(csvLine(values)).toBe(line));
