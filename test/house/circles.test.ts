import { dirname, join, normalize } from 'node:path';
import { expect, it } from 'vitest';
import { sourceFiles } from './source-files.ts';

const IMPORT = /(?:from|import)\s*\(?\s*'(\.[^']+)'/g;
const NOT_PROGRAM = /^(test|benchmarks|examples)\/|\.test\.ts$|\/(testing|test-broker)\//;

/** Groups of files that import each other, directly or through other files (Tarjan). */
function circlesOf(imports: ReadonlyMap<string, readonly string[]>): string[][] {
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const stack: string[] = [];
  const circles: string[][] = [];

  function visit(file: string): number {
    const index = order.size;
    order.set(file, index);
    lowest.set(file, index);
    stack.push(file);
    for (const next of imports.get(file) ?? []) {
      const reached = order.has(next) ? (stack.includes(next) ? order.get(next) : undefined) : visit(next);
      if (reached !== undefined) lowest.set(file, Math.min(lowest.get(file) ?? index, reached));
    }
    if (lowest.get(file) === index) {
      const circle = stack.splice(stack.indexOf(file));
      if (circle.length > 1) circles.push(circle.sort());
    }
    return lowest.get(file) ?? index;
  }

  for (const file of imports.keys()) if (!order.has(file)) visit(file);
  return circles;
}

it('finds a cycle, and none in a diamond', () => {
  expect(circlesOf(new Map(Object.entries({ a: ['b'], b: ['c'], c: ['b', 'd'], d: [] })))).toEqual([['b', 'c']]);
  expect(circlesOf(new Map(Object.entries({ a: ['b', 'c'], b: ['d'], c: ['d'], d: [] })))).toEqual([]);
});

it('no files import each other in a cycle, not even types', async () => {
  const files = (await sourceFiles()).filter(({ path }) => !NOT_PROGRAM.test(path));
  const known = new Set(files.map(({ path }) => path));
  const imports = new Map(
    files.map(({ path, text }) => {
      const targets = [...text.matchAll(IMPORT)].map(([, target = '']) => normalize(join(dirname(path), target)));
      return [path, targets.filter((target) => known.has(target))];
    }),
  );
  expect(circlesOf(imports)).toEqual([]);
});
