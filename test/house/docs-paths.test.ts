/** Every path in backticks in the docs exists. */
import { readdirSync, readFileSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { ROOT } from './source-files.ts';

const PATH = /`([\w.-]+\/[^`\s]*)`/g;
/** Paths that the example in docs/adding-a-fact.md would add. */
const EXAMPLE = /\bvotes?\b|fact-list-3/;
/** Folders that `npm start` creates, which are not part of the project. */
const MADE = ['node_modules', 'data'];
const FOLDERS = new Set(readdirSync(ROOT).filter((name) => !MADE.includes(name)));

async function exists(path: string): Promise<boolean> {
  const pattern = path.replace(/<[^>]*>/g, '*').replace(/\/$/, '');
  for await (const _ of glob(`${pattern}{,.test.ts}`, { cwd: ROOT })) return true;
  return false;
}

it('a path in the docs leads to a file or a folder', async () => {
  let checked = 0;
  const dead: string[] = [];
  for await (const page of glob(['*.md', 'docs/**/*.md', 'benchmarks/README.md'], { cwd: ROOT })) {
    for (const [, path = ''] of readFileSync(`${ROOT}/${page}`, 'utf8').matchAll(PATH)) {
      if (!FOLDERS.has(path.split('/')[0] ?? '')) continue;
      if (page === 'docs/adding-a-fact.md' && EXAMPLE.test(path)) continue;
      checked++;
      if (!(await exists(path))) dead.push(`${page}: ${path}`);
    }
  }
  expect(checked).toBeGreaterThan(250);
  expect(dead).toEqual([]);
});
