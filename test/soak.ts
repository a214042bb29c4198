/**
 * Runs the long forms of the tests that CI runs short: `npm run soak [-- name …]`. Same code, more runs, and another seed each time.
 * A variable that is already set overrides the number here.
 */
import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { fileURLToPath } from 'node:url';

interface Part {
  readonly name: string;
  readonly files: string;
  /** Pattern of test names; without it, all tests of the files run. */
  readonly only?: string;
  readonly environment: Readonly<Record<string, string>>;
}

const root = fileURLToPath(new URL('..', import.meta.url));
const vitest = fileURLToPath(new URL('../node_modules/vitest/vitest.mjs', import.meta.url));

const PARTS: readonly Part[] = [
  { name: 'laws', files: 'test/laws', environment: { LAWS_RUNS: '200' } },
  { name: 'trees', files: 'test/laws/trees', environment: { TREE_RUNS: '10000' } },
  { name: 'crash', files: 'test/crash', environment: { CRASH_KILLS: '60' } },
  { name: 'system', files: 'test/system/kill', environment: { SYSTEM_KILLS: '60' } },
  { name: 'usage', files: 'test/system/usage', environment: { USAGE_KILLS: '60' } },
  { name: 'webhooks', files: 'test/system/webhooks', environment: { WEBHOOK_KILLS: '60' } },
  { name: 'cluster', files: 'infra/postgres/embedded/earlier', environment: { MIGRATION_GROWTH: '1.03' } },
  { name: 'enqueue', files: 'api/webhooks/enqueue-events', environment: { ENQUEUE_RUNS: '2000' } },
  { name: 'crossings', files: 'api/webhooks/price-crossings', environment: { CROSSING_RUNS: '2000' } },
  { name: 'tailer', files: 'pipeline/tailer/run-tailer.law', environment: { PROPERTY_RUNS: '1000' } },
  { name: 'price', files: 'pipeline/price/exactly-once', environment: { PRICE_RUNS: '200' } },
  { name: 'ahead', files: 'pipeline/price/ahead-law', environment: { AHEAD_RUNS: '200' } },
  { name: 'stall', files: 'pipeline/price/stall', environment: { STALL_BLOCKS: '100000' } },
  { name: 'rollups', files: 'test/laws/rollups', environment: { ROLLUP_RUNS: '100' } },
  { name: 'reprocess', files: 'pipeline/reprocess/make-generation.law', environment: { MAKE_RUNS: '100' } },
  { name: 'routes', files: 'api/rest/market/best-path', environment: { ROUTE_RUNS: '100000' } },
  { name: 'rpc', files: 'api/rpc/fuzz', environment: { RPC_FUZZ_RUNS: '100000' } },
  { name: 'log', files: 'infra/event-log', environment: { VERUSTREAM_KILLS: '100' } },
  { name: 'login', files: 'api/access/login', environment: { LOGIN_REPLAYS: '10000' } },
  { name: 'login-http', files: 'test/api/login', environment: { LOGIN_REPLAYS: '10000' } },
  {
    name: 'stream',
    files: 'test/stream-check',
    environment: { STREAM_CLIENTS: '500', STREAM_SECONDS: '1200', STREAM_KILLS: '20', STREAM_BLOCKS: '3' },
  },
  {
    name: 'attack',
    files: 'test/attack',
    environment: { ATTACK_SECONDS: '60', ATTACK_CROWD: '60000', ATTACK_JUDGES_LATENCY: '1' },
  },
  {
    name: 'page',
    files: 'test/page/scenarios',
    only: 'scenario [345]:|slowed',
    environment: { PAGE_FLOOD_SECONDS: '300', PAGE_WAITS: '1', PAGE_JUDGES_TIME: '1' },
  },
  { name: 'wandering', files: 'test/page/page', only: 'scenario 13', environment: { PAGE_NAVIGATIONS: '500' } },
  { name: 'limiter', files: 'api/access/limiter', environment: { LIMITER_SCHEDULES: '20000' } },
];

const HOUR_MS = 3_600_000;
const seed = String(randomInt(2 ** 31 - 1));
const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !PARTS.some((part) => part.name === name));
if (unknown.length > 0) {
  console.error(`unknown soak ${unknown.join(', ')}; the soaks are ${PARTS.map(({ name }) => name).join(', ')}`);
  process.exit(2);
}

const outcomes = PARTS.filter(({ name }) => wanted.length === 0 || wanted.includes(name)).map((part) => {
  const environment: NodeJS.ProcessEnv = { TEST_SEED: seed, ...part.environment, ...process.env };
  const settings = ['TEST_SEED', ...Object.keys(part.environment)].map(
    (variable) => `${variable}=${environment[variable]}`,
  );
  console.log(`\nsoak: ${settings.join(' ')} ${part.files}`);
  const began = performance.now();
  const tests = part.only === undefined ? [part.files] : [part.files, '-t', part.only];
  const { status } = spawnSync(process.execPath, [vitest, 'run', `--testTimeout=${HOUR_MS}`, ...tests], {
    cwd: root,
    env: environment,
    stdio: 'inherit',
  });
  const minutes = ((performance.now() - began) / 60_000).toFixed(1);
  return { passed: status === 0, line: `${part.name}: ${minutes} min, ${settings.join(' ')} ${part.files}` };
});

console.log('');
for (const { passed, line } of outcomes) console.log(`soak: ${passed ? 'passed' : 'FAILED'}  ${line}`);
process.exitCode = outcomes.every(({ passed }) => passed) ? 0 : 1;
