import { expect, it } from 'vitest';
import { sourceFiles } from './source-files.ts';

const OWN_FILE = 'test/house/process-handlers.test.ts';
/** What would keep the process alive, or quiet, after an error that nobody handles: by event, by flag, and for a domain. */
const HIDES =
  /uncaughtException|unhandledRejection|unhandled-rejections|setUncaughtExceptionCaptureCallback|node:domain/;
/** An error that is caught and neither told nor thrown, where a connection or a process is listened to. */
const SWALLOWS = /\.(?:on|once|addListener)\('error', \(\w*\) => (?:undefined|\{\s*\})\)/;

it('no handler of the whole process hides an error', async () => {
  const hiding = (await sourceFiles()).filter(({ path, text }) => path !== OWN_FILE && HIDES.test(text));
  expect(hiding.map(({ path }) => path)).toEqual([]);
});

it('what the program listens to for errors, it tells of them', async () => {
  const ofTests = /\.test\.ts$|^test\/|^benchmarks\//;
  const swallowing = (await sourceFiles()).filter(({ path, text }) => !ofTests.test(path) && SWALLOWS.test(text));
  // In these the error is told otherwise: by the call that failed, or by how the process ended.
  expect(swallowing.map(({ path }) => path).sort()).toEqual([
    'infra/clickhouse/engine-process/main.ts',
    'infra/postgres/embedded/embedded.ts',
    'infra/postgres/embedded/server-process.ts',
    'infra/postgres/embedded/single-user.ts',
    'infra/postgres/pool.ts',
  ]);
});

it('every pool of connections to Postgres is opened where errors are listened to', async () => {
  const mayConnect = /\.test\.ts$|^(test|benchmarks)\/|^infra\/postgres\/(pool\.ts|embedded\/)/;
  const others = (await sourceFiles()).filter(
    ({ path, text }) => !mayConnect.test(path) && /new pg\.(?:Pool|Client)\(/.test(text),
  );
  expect(others.map(({ path }) => path)).toEqual([]);
});
