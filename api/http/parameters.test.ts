import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { writtenDecimal } from '../schema/written-decimal.ts';
import { ApiError, problemBody } from './api-error.ts';
import { compileBody } from './json-body.ts';
import { chainParameter, compileParameters, pathParameter, queryParameter, requiredQuery } from './parameters.ts';

const reader = compileParameters(
  {
    id: pathParameter('id', { type: 'string', minLength: 1 }),
    chain: chainParameter,
    page: queryParameter('page', { type: 'integer', minimum: 1, default: 1 }),
    minUsd: queryParameter('usd', writtenDecimal),
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

function problemOf(work: () => unknown): Record<string, unknown> {
  try {
    work();
  } catch (error) {
    if (error instanceof ApiError) return problemBody(error, 'id');
    throw error;
  }
  return {};
}

describe('parameters', () => {
  it('are read as typed values, with defaults', () => {
    expect(read('kind=a')).toEqual({ id: 'x', chain: 'vrsc', page: 1, explain: false, kind: 'a' });
    expect(read('kind=b&chain=CHIPS&page=12&minUsd=0.5&explain=true')).toEqual({
      id: 'x',
      chain: 'chips',
      page: 12,
      minUsd: '0.5',
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
      expect(read(`kind=a&minUsd=${value}`)).toMatchObject({ minUsd: value });
    },
  );

  it.each(['', 'e2', '1e', '1e999', '.5', '5.', 'NaN', '-1', '1,5'])('refuses minUsd=%j', (value) => {
    expect(faults(`kind=a&minUsd=${encodeURIComponent(value)}`)).toEqual(['/minUsd']);
  });

  it('are refused when missing, unknown, given twice or not in the list of values', () => {
    expect(faults('')).toEqual(['/kind']);
    expect(faults('kind=a&colour=red&a%2Fb=1')).toEqual(['/a~1b', '/colour']);
    expect(faults('kind=a&kind=b')).toEqual(['/kind']);
    expect(faults('kind=a&id=y')).toEqual(['/id']);
    expect(faults('kind=c&explain=yes&chain=nope')).toEqual(['/chain', '/explain', '/kind']);
    expect(faults('kind=a&__proto__=1&constructor=2')).toEqual(['/__proto__', '/constructor']);
  });

  it('many or long faults get a short answer with a few of them', () => {
    const name = fc.oneof(
      fc.constant('kind'),
      fc.string({ minLength: 1, maxLength: 30 }),
      fc.nat(5_000).map((n) => 'x'.repeat(n + 1)),
    );
    const readBody = compileBody({
      type: 'object',
      properties: { kind: { type: 'string' } },
      additionalProperties: false,
    });
    fc.assert(
      fc.property(fc.array(name, { maxLength: 200 }), fc.nat(5_000), (names, more) => {
        const all = [...names, ...Array.from({ length: more }, (_, n) => `n${n}`)];
        const body = JSON.stringify(Object.fromEntries([...new Set(all)].map((key) => [key, 1])));
        for (const refused of [
          () => read(all.map((key) => `${encodeURIComponent(key)}=1`).join('&')),
          () => readBody(Buffer.from(body)),
        ]) {
          const answer = JSON.stringify(problemOf(refused));
          expect(answer.length).toBeLessThan(50_000);
          expect(JSON.parse(answer).errors?.length ?? 0).toBeLessThanOrEqual(10);
        }
      }),
      { numRuns: 30 },
    );
    const refusal = problemOf(() => read('kind=a&b=1&c=1&d=1&e=1&f=1&g=1&h=1&i=1&j=1&k=1&l=1&m=1'));
    expect(refusal).toMatchObject({ code: 'invalid_parameter', detail: expect.stringMatching(/; and 2 more$/) });
  });

  it('name the allowed values when they are refused', () => {
    expect(() => read('kind=a&colour=red')).toThrow(/allowed are chain, page, minUsd, explain, kind/);
    expect(() => read('kind=c')).toThrow(/kind must be one of a, b/);
    expect(() => read('kind=a&minUsd=-1')).toThrow(/minUsd must be a decimal of at least 0, such as 12\.5/);
  });
});
