/**
 * The stores fail in every way while a chain grows and changes branches: the service waits, reports the reason and continues by itself. In
 * the end the stores match the log.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createRandom } from '../../recordings/player/faults.ts';
import { NATIVE } from '../generator/addresses.ts';
import { type ChainDaemon, startChainDaemon } from '../generator/chain-daemon.ts';
import { EVERYTHING } from '../generator/mixes.ts';
import { SEED } from '../setup/seed.ts';
import { type FailingStores, type FaultName, startFailingStores } from './failing-stores.ts';
import { type Program, type ProgramSettings, runCommand, startProgram, until } from './program.ts';
import { CHAIN, settingsForAll, temporaryFolder, untilServed } from './recorded-chain.ts';

const MINUTES = 60_000;
const FAULTS = Number(process.env.STORE_FAULTS ?? 9);
const LONGEST_FAULT_MS = 1500;
/** Enough blocks for baskets that price something. */
const FIRST_BLOCKS = 40;
const MOST_NEW_BLOCKS = 8;
const DEEPEST = 6;
/** Probability per move. */
const REORGANISES = 0.15;
const ASK_EVERY_MS = 200;
/**
 * The time limit of a store's query plus the time of the refusal itself. For /api/health, which does not wait for a store, it means a hang.
 */
const LONGEST_ANSWER_MS = 20_000;

/** Readiness code of each fault, and paths that need that store; each path is requested only once, because answers are cached. */
const TOLD: readonly (readonly [FaultName, RegExp, ((number: number) => string) | null])[] = [
  ['Postgres cannot be reached', /"postgres_unreachable"/, (number) => `/api/blocks/${number}`],
  ['Postgres is full', /"postgres_full"/, (number) => `/api/blocks/${7 + number}`],
  ['Postgres takes no writes', /"postgres_read_only"/, null],
  ['ClickHouse is killed', /"clickhouse_unreachable"/, () => '/api/stats/charts?metric=difficulty'],
  ['ClickHouse hangs', /"clickhouse_silent"/, null],
  ['ClickHouse has no disk space', /"clickhouse_overloaded"/, null],
];

const PATHS = [
  '/api/blocks/?pageSize=1',
  '/api/conversions/?pageSize=2',
  '/api/market/protocol',
  '/api/market/volume',
  '/api/stats/status',
  '/api/richlist/top',
  '/metrics',
];

const random = createRandom(SEED);
const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;

let daemon: ChainDaemon;
let stores: FailingStores;
let settings: ProgramSettings;
let program: Program;

beforeAll(async () => {
  daemon = await startChainDaemon({ seed: SEED, addresses: 30, transactions: 5, mix: EVERYTHING }, FIRST_BLOCKS);
  stores = await startFailingStores(temporaryFolder());
  const chain = { name: CHAIN, rpc: daemon.url, stableAnchors: [NATIVE], minBasketAge: 2 };
  settings = { ...settingsForAll([chain], { minBasketDepthUsd: 0 }), ...stores.settings };
  program = await startProgram(settings, { lives: 'file' }).answers();
});

afterAll(async () => {
  await stores?.stop();
  await daemon?.stop();
});

const ready = () => program.get('/api/health/ready');

it(
  `${FAULTS} faults at any moment (TEST_SEED=${SEED}) change nothing`,
  async () => {
    const asking = new AbortController();
    const asked = askAllTheTime(asking.signal);
    const names = Object.keys(stores.faults) as FaultName[];
    for (let number = 0; number < FAULTS; number++) {
      // Every fault at least once if FAULTS allows it.
      const name = names[number] ?? pick(names);
      const fault = stores.faults[name];
      moveChain();
      await sleep(random() * 300);
      await fault.begin();
      moveChain();
      await sleep(random() * LONGEST_FAULT_MS);
      await fault.lift();
    }
    asking.abort();
    daemon.grow(1);
    await untilServed(program, daemon, 3 * MINUTES);
    const { answers, wrong } = await asked;
    expect(wrong).toEqual([]);
    expect(answers.get(200)).toBeGreaterThan(0);
    await until('it is ready', async () => (await ready()).status === 200);
    for (const command of ['verify', 'audit', 'status']) {
      const { code, output } = await runCommand([command], settings);
      expect(code, `${command}: ${output}`).toBe(0);
    }
    const stopped = program.complaints().filter(({ level, stage }) => level > 40 && stage !== undefined);
    expect(stopped, 'no stage stops for good').toEqual([]);
  },
  6 * MINUTES,
);

it(
  'readiness names what the service waits for, requests are refused with it, and health answers',
  async () => {
    for (const [name, code, pathOf] of TOLD) {
      const { begin, lift } = stores.faults[name];
      await begin();
      await until(`ready says ${code} while ${name}`, async () => {
        const { status, body } = await ready();
        return status === 503 && code.test(body);
      }).catch(async (error: unknown) => {
        throw new Error(`${String(error)}\n${(await ready()).body}\n${program.output().slice(-3000)}`);
      });
      expect(await program.get('/api/health')).toMatchObject({ status: 200 });
      let asked = 0;
      // Repeats until a connection that the service still had to the full server is gone.
      if (pathOf) {
        await until(`requests are refused while ${name}`, async () => {
          const { status, body } = await program.get(pathOf(++asked));
          if (status === 200) return false;
          expect({ status, body }).toMatchObject({ status: 503, body: expect.stringMatching(/"code":"unavailable"/) });
          expect(body).toMatch(/"reason":"(postgres|clickhouse|limits)_\w+"/);
          return true;
        });
      }
      await lift();
      await until(`it is ready after ${name}`, async () => (await ready()).status === 200);
    }
    expect(await program.kill('SIGTERM')).toMatchObject({ code: 0, signal: null });
    expect(program.output()).not.toMatch(/Unhandled|uncaught|secretKey|connectionParameters/i);
  },
  5 * MINUTES,
);

/** Adds a few blocks, and now and then a new branch. */
function moveChain(): void {
  if (random() < REORGANISES) daemon.reorganise(1 + Math.floor(random() * DEEPEST), 1);
  daemon.grow(Math.floor(random() * MOST_NEW_BLOCKS));
}

interface Answers {
  /** Number of answers by status. */
  readonly answers: ReadonlyMap<number, number>;
  /** Answers that are neither a result nor a 503, and answers that were too late. */
  readonly wrong: readonly string[];
}

async function askAllTheTime(signal: AbortSignal): Promise<Answers> {
  const answers = new Map<number, number>();
  const wrong: string[] = [];
  const ask = async (path: string) => {
    const asked = performance.now();
    const { status, body } = await program.get(path);
    const tookMs = Math.round(performance.now() - asked);
    answers.set(status, (answers.get(status) ?? 0) + 1);
    if ((status !== 200 && status !== 503) || tookMs > LONGEST_ANSWER_MS)
      wrong.push(`${path} ${status} ${tookMs} ms ${body}`);
  };
  const repeat = async (next: () => string) => {
    while (!signal.aborted) {
      await ask(next());
      await sleep(ASK_EVERY_MS);
    }
  };
  await Promise.all([repeat(() => '/api/health'), repeat(() => pick(PATHS))]);
  return { answers, wrong };
}
