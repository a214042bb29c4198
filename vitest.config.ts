import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/setup/sequencer.ts';
import { NODE_FLAGS } from './test/support/infra/node-flags.ts';

export default defineConfig({
  test: {
    include: ['{api,client,commands,domain,infra,pipeline,processors,recordings,schemas,test,web}/**/*.test.ts'],
    globalSetup: ['./test/setup/temporary-folders.ts'],
    setupFiles: [
      './test/setup/fast-check.ts',
      './test/setup/late-tests.ts',
      './test/setup/after-tests-hooks.ts',
      ...(process.env.MEASURE_CPU === '1' ? ['./test/setup/cpu-seconds.ts'] : []),
    ],
    // Processes, each for many files: modules, the embedded Postgres and the ClickHouse engine of a process are started once.
    pool: 'forks',
    isolate: false,
    // Most of the time a file waits for the processes that it started.
    maxWorkers: availableParallelism() + 2,
    sequence: { sequencer: LongestFirst },
    testTimeout: 180_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 30_000 } },
    // Limits a failure to a screenful: the seed and the first differences come first.
    diff: { truncateThreshold: 40 },
    // Node.js imports modules itself, as it does for the program: docs/decisions/0107-less-work-in-the-tests.md.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    execArgv: [...NODE_FLAGS],
    reporters: [
      'default',
      './test/reporter/summary.ts',
      ...(process.env.RECORD_DURATIONS === '1' ? ['./test/reporter/durations.ts'] : []),
    ],
  },
});
