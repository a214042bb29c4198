import { describe, expect, it } from 'vitest';
import { ApiError } from './api-error.ts';
import { chainParameter, compileParameters, pathParameter, queryParameter, requiredQuery } from './parameters.ts';

const reader = compileParameters(
  {
    id: pathParameter('id', { type: 'string', minLength: 1 }),
    chain: chainParameter,
    page: queryParameter('page', { type: 'integer', minimum: 1, default: 1 }),
    minUsd: queryParameter('usd', { type: 'number', minimum: 0 }),
    explain: queryParameter('explain', { type: 'boolean', default: false }),
    kind: requiredQuery('kind', { type: 'string', enum: ['a', 'b'] }),
  },
  ['vrsc', 'chips'],
);
const read = (query: string) => ({ ...reader.read({ id: 'x' }, query) });

function faults(query: string): readonly string[] {
  try {
    read(query);
  } catch (error) {
    if (error instanceof ApiError) return (error.details.errors ?? []).map(({ pointer }) => pointer).sort();
    throw error;
  }
  return [];
}

describe('parameters', () => {
  it('gives typed values and defaults', () => {
    expect(read('kind=a')).toEqual({ id: 'x', chain: 'vrsc', page: 1, explain: false, kind: 'a' });
    expect(read('kind=b&chain=CHIPS&page=12&minUsd=0.5&explain=true')).toEqual({
      id: 'x',
      chain: 'chips',
      page: 12,
      minUsd: 0.5,
      explain: true,
      kind: 'b',
    });
  });

  it.each(['1e2', '0x10', ' 1', '1 ', '+1', '1.0', '', '-1', '0', 'Infinity', '99999999999999999999'])(
    'refuses page=%j',
    (page) => {
      expect(faults(`kind=a&page=${encodeURIComponent(page)}`)).toEqual(['/page']);
    },
  );

  it.each(['0.0950625000000000100000000000000', '4.7266337993591499694596132213935', '1e2', '1E-7'])(
    'takes minUsd=%j',
    (value) => {
      expect(read(`kind=a&minUsd=${value}`)).toMatchObject({ minUsd: Number(value) });
    },
  );

  it.each(['e2', '1e', '1e999', '.5', '5.', 'NaN', '-1', '1,5'])('refuses minUsd=%j', (value) => {
    expect(faults(`kind=a&minUsd=${encodeURIComponent(value)}`)).toEqual(['/minUsd']);
  });

  it('refuses what is missing, unknown, given twice, or not of the list', () => {
    expect(faults('')).toEqual(['/kind']);
    expect(faults('kind=a&colour=red&a%2Fb=1')).toEqual(['/a~1b', '/colour']);
    expect(faults('kind=a&kind=b')).toEqual(['/kind']);
    expect(faults('kind=a&id=y')).toEqual(['/id']);
    expect(faults('kind=c&explain=yes&chain=nope')).toEqual(['/chain', '/explain', '/kind']);
    expect(faults('kind=a&__proto__=1&constructor=2')).toEqual(['/__proto__', '/constructor']);
  });

  it('names what is allowed', () => {
    expect(() => read('kind=a&colour=red')).toThrow(/allowed are chain, page, minUsd, explain, kind/);
    expect(() => read('kind=c')).toThrow(/kind must be one of a, b/);
  });
});
