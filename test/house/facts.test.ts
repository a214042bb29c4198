import { basename } from 'node:path';
import { expect, it } from 'vitest';
import { isMade } from '../../schemas/facts/definition.ts';
import { FACTS } from '../../schemas/facts.ts';
import { sourceFiles } from './source-files.ts';

it('every defined fact is registered in schemas/facts.ts', async () => {
  const defined = (await sourceFiles())
    .filter(({ path }) => /^schemas\/facts\/[^/]+\.ts$/.test(path))
    .flatMap(({ path, text }) =>
      [...text.matchAll(/= defineFact\(\{\s*type: '(\w+)'/g)].map(([, type]) => `${type} of ${basename(path)}`),
    );
  const registered = new Set<string>(FACTS.map(({ type }) => type));
  expect(defined.length).toBeGreaterThan(10);
  expect(defined.filter((fact) => !registered.has(fact.split(' ')[0] ?? ''))).toEqual([]);
});

it('every processor that derives facts is called', async () => {
  const program = (await sourceFiles()).filter(({ path }) => !/\.test\.ts$|\/testing\/|^test\//.test(path));
  const uncalled = program
    .filter(({ path }) => path.startsWith('processors/'))
    .flatMap(({ path, text }) =>
      [...text.matchAll(/^export function (derive\w+)/gm)]
        .filter(([, name]) => !program.some((other) => other.path !== path && other.text.includes(`${name}(`)))
        .map(([, name]) => `${name} of ${path}`),
    );
  expect(uncalled).toEqual([]);
});

it('every fact is stored or published', () => {
  const lost = FACTS.filter(
    ({ postgres, clickhouse, published }) => !postgres && clickhouse.length === 0 && !published,
  );
  expect(lost.map(({ type }) => type)).toEqual([]);
});

it('data of a fact that both stores have is audited', () => {
  const unaudited = FACTS.filter(({ postgres }) => postgres).flatMap(({ type, clickhouse }) =>
    clickhouse
      .filter((history) => (isMade(history) ? history.audited.length === 0 : history.audited === null))
      .map(({ table }) => `${table} of ${type}`),
  );
  expect(unaudited).toEqual([]);
});
