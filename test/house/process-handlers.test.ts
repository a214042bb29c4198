import { expect, it } from 'vitest';
import { sourceFiles } from './source-files.ts';

const OWN_FILE = 'test/house/process-handlers.test.ts';
/** Ways to keep the process running, or quiet, after an unhandled error: by event, by flag, and by domain. */
const HIDES =
  /uncaughtException|unhandledRejection|unhandled-rejections|setUncaughtExceptionCaptureCallback|node:domain/;
/** An error listener of a connection or process that neither reports nor throws the error. */
const SWALLOWS = /\.(?:on|once|addListener)\('error', \(\w*\) => (?:undefined|\{\s*\})\)/;

it('no handler of the whole process hides an error', async () => {
  const hiding = (await sourceFiles()).filter(({ path, text }) => path !== OWN_FILE && HIDES.test(text));
  expect(hiding.map(({ path }) => path)).toEqual([]);
});

it('error listeners of the program report the errors', async () => {
  const ofTests = /\.test\.ts$|^test\/|^benchmarks\//;
  const swallowing = (await sourceFiles()).filter(({ path, text }) => !ofTests.test(path) && SWALLOWS.test(text));
  // In these files the error is reported in another way: by the failed call, or by the exit of the process.
  expect(swallowing.map(({ path }) => path).sort()).toEqual([
    'infra/clickhouse/engine-process/main.ts',
    'infra/postgres/embedded/embedded.ts',
    'infra/postgres/embedded/run-tool.ts',
    'infra/postgres/embedded/server-process.ts',
    'infra/postgres/pool.ts',
  ]);
});

it('every Postgres connection pool is opened where its errors are handled', async () => {
  const mayConnect = /\.test\.ts$|^(test|benchmarks)\/|^infra\/postgres\/(pool\.ts|embedded\/)/;
  const others = (await sourceFiles()).filter(
    ({ path, text }) => !mayConnect.test(path) && /new pg\.(?:Pool|Client)\(/.test(text),
  );
  expect(others.map(({ path }) => path)).toEqual([]);
});
