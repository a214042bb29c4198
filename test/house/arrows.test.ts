import { dirname, join, normalize } from 'node:path';
import { expect, it } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { sourceFiles } from './source-files.ts';

/** The design's arrows: the folders that a folder may import from in addition to itself, including types. Tests may import anything. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  domain: [],
  schemas: ['domain'],
  processors: ['schemas', 'domain'],
  infra: ['schemas', 'domain'],
  recordings: ['schemas', 'domain'],
  pipeline: ['processors', 'infra', 'schemas', 'domain'],
  api: ['infra', 'schemas', 'domain'],
  web: ['client'],
  client: ['api', 'schemas'],
  examples: ['client'],
  commands: ['api', 'domain', 'infra', 'pipeline', 'processors', 'recordings', 'schemas', 'web', 'package.json'],
};

const IMPORT = /(?:from|import)\s*\(?\s*'(\.[^']+)'/g;
const VALUE_IMPORT = /^(?:import|export)(?! type\b)[^;']*'(\.[^']+)'|\bimport\(\s*'(\.[^']+)'/gm;

it('imports follow the arrows between the folders', async () => {
  const files = await sourceFiles();
  expect(files.length).toBeGreaterThan(100);
  const wrong: string[] = [];
  for (const { path, text } of files) {
    const folder = path.split('/')[0] ?? '';
    const allowed = MAY_IMPORT[folder];
    if (!allowed || /\.test\.tsx?$/.test(path)) continue;
    for (const [, target = ''] of text.matchAll(IMPORT)) {
      const to = normalize(join(dirname(path), target)).split('/')[0] ?? '';
      if (to !== folder && !allowed.includes(to)) wrong.push(`${path} imports ${target}`);
    }
  }
  expect(wrong).toEqual([]);
});

it('the client imports only types from the server, except the code that builds its package', async () => {
  const files = (await sourceFiles()).filter(
    ({ path }) => /^client\/(?!build\/)/.test(path) && !path.endsWith('.test.ts'),
  );
  expect(files.length).toBeGreaterThan(8);
  const wrong = files.flatMap(({ path, text }) =>
    [...text.matchAll(VALUE_IMPORT)].flatMap(([, target = '', lazy = target]) =>
      normalize(join(dirname(path), lazy)).startsWith('client/') ? [] : [`${path} imports ${lazy}`],
    ),
  );
  expect(wrong).toEqual([]);
});

it('the stage shell imports no other part of the pipeline', async () => {
  const files = (await sourceFiles()).filter(
    ({ path }) => path.startsWith('pipeline/stage/') && !path.endsWith('.test.ts'),
  );
  expect(files.length).toBeGreaterThan(8);
  const wrong = files.flatMap(({ path, text }) =>
    [...text.matchAll(IMPORT)].flatMap(([, target = '']) => {
      const to = normalize(join(dirname(path), target));
      return to.startsWith('pipeline/') && !to.startsWith('pipeline/stage/') ? [`${path} imports ${target}`] : [];
    }),
  );
  expect(wrong).toEqual([]);
});

it('a routes file is imported only by the route table and its own subject; shared code is in other files', async () => {
  const routes = /^api\/rest\/[^/]+\/(?:[\w-]+-)?routes\.ts$/;
  const files = (await sourceFiles()).filter(({ path }) => !/^test\/|\.test\.ts$/.test(path));
  expect(files.filter(({ path }) => routes.test(path)).length).toBeGreaterThan(40);
  const wrong = files.flatMap(({ path, text }) =>
    [...text.matchAll(IMPORT)].flatMap(([, target = '']) => {
      const to = normalize(join(dirname(path), target));
      const allowed = path === 'api/rest/route-table.ts' || dirname(path) === dirname(to);
      return routes.test(to) && !allowed ? [`${path} imports ${target}`] : [];
    }),
  );
  expect(wrong).toEqual([]);
});

it('the folders of the API below REST do not import it', async () => {
  const below = /^api\/(access|http|mempool|push|schema|state|webhooks)\//;
  const files = (await sourceFiles()).filter(({ path }) => below.test(path) && !path.endsWith('.test.ts'));
  expect(files.length).toBeGreaterThan(150);
  const wrong = files.flatMap(({ path, text }) =>
    [...text.matchAll(IMPORT)].flatMap(([, target = '']) =>
      normalize(join(dirname(path), target)).startsWith('api/rest/') ? [`${path} imports ${target}`] : [],
    ),
  );
  expect(wrong).toEqual([]);
});

it('shipped code imports no development dependency', async () => {
  const forUsers =
    /^(api|client|commands|domain|examples|infra|pipeline|processors|recordings|schemas|web)\/|^verustream\.ts$/;
  const forTests = /\.test\.ts$/;
  const wrong: string[] = [];
  for (const { path, text } of await sourceFiles()) {
    if (!forUsers.test(path) || forTests.test(path)) continue;
    for (const name of Object.keys(manifest.devDependencies)) {
      if (new RegExp(`(?:from|import\\(|resolve\\() ?['\`]${name}['\`/]`).test(text))
        wrong.push(`${path} imports ${name}`);
    }
  }
  expect(wrong).toEqual([]);
});

it('domain and processors use no clock, no randomness and no I/O', async () => {
  const forbidden =
    /\bDate\.now\(|new Date\(\)|Math\.random\(|\brandom(?:Bytes|UUID|Int)\b|performance\.now\(|from 'node:(?!crypto')/;
  const files = (await sourceFiles()).filter(
    ({ path }) => /^(domain|processors)\//.test(path) && !/\.test\.ts$/.test(path),
  );
  expect(files.length).toBeGreaterThan(10);
  expect(files.filter(({ text }) => forbidden.test(text)).map(({ path }) => path)).toEqual([]);
});
