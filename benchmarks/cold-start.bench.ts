/**
 * Time from the start of the program until it answers from both stores: over many blocks, and after kill -9 of the program and its Postgres
 * in the middle of a first sync. The baseline is the start over a hundred blocks, in the same run.
 * node benchmarks/cold-start.bench.ts [blocks = 20000] [starts = 3]
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from '../infra/free-port.ts';
import { chainConfig } from '../test/laws/replay.ts';
import { descendants } from './processes.ts';
import { startReadyDaemon } from './ready-daemon/ready-daemon.ts';
import { atMost, median } from './verdict.ts';

const PROGRAM = fileURLToPath(new URL('../infra/launch/run.mjs', import.meta.url));
const CHAIN = 'vrsc';
const FEW = 100;
const WANTED = { seconds: 3, afterKill: 4 };
const LOOK_MS = 10;
const [blocks = 20_000, starts = 3] = process.argv.slice(2).map(Number);

const folder = mkdtempSync(join(tmpdir(), 'verustream-start-'));

interface Service {
  readonly seconds: number;
  /** Sends SIGTERM, or kill -9 to the program and all its descendants. */
  end(how: 'in order' | 'killed'): Promise<void>;
  /** Null while nothing is indexed, or the service does not answer. */
  indexedHeight(): Promise<number | null>;
}

interface Status {
  readonly chains: Readonly<Record<string, { readonly indexedHeight: number | null }>>;
}

/** Measures until the answer of /api/stats/status, which reads both stores. */
async function start(name: string, rpc: string): Promise<Service> {
  const port = await freePort();
  const file = join(folder, `${name}.json`);
  writeFileSync(file, JSON.stringify({ chains: [{ ...chainConfig(CHAIN), rpc }] }));
  const env = { ...process.env, VERUSTREAM_CONFIG: file, DATA_DIR: join(folder, name), PORT: String(port) };
  const began = performance.now();
  const child = spawn(process.execPath, [PROGRAM, 'verustream.ts', 'start'], {
    env: { ...env, LOG_LEVEL: 'error' },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const ended = new Promise<void>((done) => child.once('exit', () => done()));
  async function indexedHeight(): Promise<number | null> {
    const reply = await fetch(`http://127.0.0.1:${port}/api/stats/status`).catch(() => null);
    if (!reply?.ok) return null;
    return ((await reply.json()) as Status).chains[CHAIN]?.indexedHeight ?? null;
  }
  const answers = () =>
    fetch(`http://127.0.0.1:${port}/api/stats/status`).then(
      (reply) => reply.ok,
      () => false,
    );
  while (!(await answers())) {
    if (child.exitCode !== null) throw new Error(`the program ended with ${child.exitCode}`);
    await sleep(LOOK_MS);
  }
  const seconds = (performance.now() - began) / 1000;
  return {
    seconds,
    indexedHeight,
    async end(how) {
      if (how === 'in order') child.kill('SIGTERM');
      else for (const pid of [child.pid ?? 0, ...descendants(child.pid ?? 0)]) kill(pid);
      await ended;
    },
  };
}

/** The program is killed first, so its children may already be gone. */
function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

async function untilHeight({ indexedHeight }: Service, height: number): Promise<void> {
  while (((await indexedHeight()) ?? -1) < height) await sleep(100);
}

async function startAgain(name: string, rpc: string): Promise<number> {
  const service = await start(name, rpc);
  await service.end('in order');
  return service.seconds;
}

const daemonOf = (count: number) =>
  startReadyDaemon({
    names: [CHAIN],
    blocks: count,
    shown: count - 1,
    transactions: 3,
    mix: 'payments',
    spendMicros: 0,
  });

const [few, many] = [await daemonOf(FEW), await daemonOf(blocks)];
const rpcOf = ({ chains }: Awaited<ReturnType<typeof daemonOf>>) => chains[0]?.rpc ?? '';
const taken = { few: [] as number[], many: [] as number[] };
try {
  const small = await start('few', rpcOf(few));
  await untilHeight(small, FEW - 1);
  await small.end('in order');
  const large = await start('many', rpcOf(many));
  await untilHeight(large, blocks / 2);
  await large.end('killed');
  const again = await start('many', rpcOf(many));
  await untilHeight(again, blocks - 1);
  await again.end('in order');
  for (let round = 0; round < starts; round++) {
    taken.few.push(await startAgain('few', rpcOf(few)));
    taken.many.push(await startAgain('many', rpcOf(many)));
  }
  const [base, full] = [median(taken.few), median(taken.many)];
  console.log(`over ${FEW} blocks (baseline): ${base.toFixed(2)} s, median of ${starts}`);
  console.log(
    `over ${blocks} blocks: ${(full / base).toFixed(2)} × the baseline, ${atMost(full, WANTED.seconds, ' s')}`,
  );
  console.log(
    `after kill -9 at about block ${Math.round(blocks / 2)}: ${(again.seconds / base).toFixed(2)} × the baseline, ${atMost(again.seconds, WANTED.afterKill, ' s')}`,
  );
} finally {
  for (const daemon of [few, many]) daemon.end();
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
}
process.exit();
