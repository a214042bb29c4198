import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareRuns, figuresOf } from '../../benchmarks/figures.ts';
import { withResults } from '../../benchmarks/results.ts';

describe('figures of an output', () => {
  it('are identified by the words around them', () => {
    const output = 'one caller   412 ns   ratio 1.52\n{"case":"derive","p99":3,"rows":1,000,000}\nround 1\nround 2';
    expect([...figuresOf(output)]).toEqual([
      ['one caller <> ns ratio #', 412],
      ['one caller # ns ratio <>', 1.52],
      ['{"case":"derive","p99":<>,"rows":#}', 3],
      ['{"case":"derive","p99":#,"rows":<>}', 1_000_000],
      ['round <>', 1],
      ['round <> (2)', 2],
    ]);
  });

  it('law: a run compared with itself times a factor gives the factor', () => {
    const values = fc.array(fc.integer({ min: 1, max: 1e6 }), { minLength: 1, maxLength: 7 });
    fc.assert(
      fc.property(values, fc.integer({ min: 2, max: 9 }), (runs, factor) => {
        const [compared] = compareRuns(
          runs.map((value) => `took ${value * factor} ms`),
          runs.map((value) => `took ${value} ms`),
        );
        expect(compared).toEqual({ figure: 'took <> ms', median: factor, least: factor, most: factor });
      }),
    );
  });

  it('omit constants, and figures that one side does not print', () => {
    expect(compareRuns(['of 5 blocks 3 s\nnew 4'], ['of 5 blocks 2 s'])).toEqual([
      { figure: 'of # blocks <> s', median: 1.5, least: 1.5, most: 1.5 },
    ]);
  });
});

describe('RESULTS.md', () => {
  const circumstances = { date: '2026-01-01', commit: 'abc', machine: 'a machine' };

  it('replaces a section and keeps the others, sorted by name', () => {
    const first = withResults(
      '',
      [
        { name: 'rest', output: 'old' },
        { name: 'fan-out', output: 'kept' },
      ],
      circumstances,
    );
    const text = withResults(first, [{ name: 'rest', output: 'new\n' }], { ...circumstances, commit: 'def' });
    expect(text.match(/^## .*$/gm)).toEqual(['## fan-out', '## rest']);
    expect(text).toContain('## fan-out\n2026-01-01, commit abc, a machine\n```\nkept\n```\n');
    expect(text).toContain('## rest\n2026-01-01, commit def, a machine\n```\nnew\n```\n');
    expect(text).not.toContain('old');
  });
});
