/**
 * Attacks the running program while a bystander sends small requests. The program survives, the bystander is not delayed, memory stays
 * bounded, and the daemon receives only calls that it can handle. ATTACK_SECONDS sets the duration of each attack, TEST_SEED the random
 * choices; ATTACK_JUDGES_LATENCY=1 also checks the bystander's p99.
 */
import { type ChildProcess, execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { RecordedNode, RecordedNodeOptions } from '../../recordings/player/recorded-node.ts';
import { SEED } from '../setup/seed.ts';
import { holdsNul } from '../support/api/rpc/harmless-calls.ts';
import { NODE_FLAGS } from '../support/infra/node-flags.ts';
import { type CrowdedDaemon, startCrowdedDaemon } from '../support/infra/verusd/crowded-mempool.ts';
import { type Program, startProgram, until } from '../system/program.ts';
import { CHAIN, settingsForAll, startNode, untilServed } from '../system/recorded-chain.ts';
import type { AttackOrder, Outcomes } from './attacker.ts';
import { ATTACKS } from './attacks/attacks.ts';
import type { Measured } from './bystander.ts';

const SECONDS = Number(process.env.ATTACK_SECONDS ?? 3);
/** Transactions in the mempool; ATTACK_CROWD may set more than the service keeps. */
const CROWD = Number(process.env.ATTACK_CROWD ?? 2_000);
const judgesLatency = process.env.ATTACK_JUDGES_LATENCY === '1';
/**
 * Bounds of the bystander's latency: TIMES the latency without an attack, or this many ms, whichever is greater. HANG_MS is for its longest
 * answer (without its own lateness), P99_MS for its p99.
 */
const TIMES = 5;
const HANG_MS = 2000;
const P99_MS = 100;
const MAX_GROWTH_MB = 400;
const SAMPLE_MS = 200;
const MOST_SHOWN = 50_000;
const CROWD_MS = 240_000;
const MAX_CALL_CHARACTERS = 5_000_000;
const MAX_NESTING = 64;
/** The default limits of the service. */
const DEFAULT_LIMITS = {
  tiers: { free: { creditsPerMinute: 60 }, developer: { creditsPerMinute: 150 }, pro: { creditsPerMinute: 500 } },
  keylessRequestsPerMinute: 100,
};

let node: RecordedNode;
let crowd: CrowdedDaemon;
let program: Program;
let bystander: ChildProcess;
let quiet: Measured;
const unfit: string[] = [];
const lines: string[] = [];

const script = (name: string) => fileURLToPath(new URL(name, import.meta.url));

beforeAll(async () => {
  const onRequest: RecordedNodeOptions['onRequest'] = ({ calls }) => {
    for (const { method, params } of calls) if (!isFit(params)) unfit.push(`${method} ${params.slice(0, 80)}`);
  };
  node = await startNode(400, 0, { onRequest });
  crowd = await startCrowdedDaemon(node.url, CROWD);
  program = await startProgram(settingsForAll([{ name: CHAIN, rpc: crowd.url }], DEFAULT_LIMITS), {
    lives: 'file',
  }).answers();
  await untilServed(program, node);
  await untilCrowded();
  bystander = fork(script('./bystander.ts'), [program.base], { execArgv: [...NODE_FLAGS] });
  await sleep(2000); // lets its code warm up
  await measured();
  await sleep(Math.max(5, SECONDS / 2) * 1000);
  quiet = await measured();
  lines.push(`quiet: ${latencyLine(quiet)}, RSS ${rssMb()} MB`);
});

afterAll(async () => {
  await crowd?.stop();
  bystander?.disconnect();
  console.log(`attacks: seed ${SEED}, ${SECONDS} s each\n${lines.join('\n')}`);
});

it.each(ATTACKS.map(({ name }) => name))('%s', { timeout: (SECONDS + 180) * 1000 }, async (name) => {
  const { port } = new URL(program.base);
  const order: AttackOrder = { name, port: Number(port), chain: CHAIN, seed: SEED, seconds: SECONDS };
  const before = rssMb();
  await measured();
  const attacker = fork(script('./attacker.ts'), [JSON.stringify(order)], { execArgv: [...NODE_FLAGS] });
  let most = before;
  const sampling = setInterval(() => {
    most = Math.max(most, rssMb());
  }, SAMPLE_MS);
  void program.ended.then(() => clearInterval(sampling));
  const [outcomes] = (await Promise.race([once(attacker, 'message'), program.ended.then(() => [null])])) as [
    Outcomes | null,
  ];
  await sleep(500); // lets the last requests be answered
  clearInterval(sampling);
  attacker.kill();
  expect(outcomes, `the program ended:\n${program.output().slice(-4000)}`).not.toBeNull();
  const met = await measured();
  const tally = Object.entries(outcomes ?? {}).map(([outcome, times]) => `${times} × ${outcome}`);
  lines.push(`${name}: ${latencyLine(met)}, RSS ${before} → at most ${most} MB; attacker met ${tally.join(', ')}`);

  expect(tally).not.toEqual([]);
  expect(met.faults).toEqual({});
  expect(met.latencies.length).toBeGreaterThan(met.asked / 2);
  expect(met.longest).toBeLessThan(Math.max(HANG_MS, TIMES * quiet.longest));
  expect(most - before).toBeLessThan(MAX_GROWTH_MB);
  expect(unfit).toEqual([]);
  if (judgesLatency) expect(p99(met)).toBeLessThan(Math.max(TIMES * p99(quiet), P99_MS));
});

/** Waits until the mempool shows the transactions of the highest fee rates, as many as there is room for. */
async function untilCrowded(): Promise<void> {
  const waiting = Math.min(CROWD, MOST_SHOWN);
  const withheld = `verustream_mempool_withheld_transactions{chain="${CHAIN}"} ${CROWD - waiting}\n`;
  const listed = `verustream_mempool_transactions{chain="${CHAIN}"} ${CROWD}\n`;
  const holds = async () => {
    const { body } = await program.get('/metrics');
    return body.includes(listed) && body.includes(withheld);
  };
  await until(`${waiting} transactions are shown`, holds, CROWD_MS);
  const shown = JSON.parse((await program.get('/api/mempool/')).body);
  expect(shown).toMatchObject({ listed: CROWD, waiting, truncated: CROWD > waiting });
  lines.push(`${waiting} of ${CROWD} waiting transactions shown, RSS ${rssMb()} MB`);
}

async function measured(): Promise<Measured> {
  const said = once(bystander, 'message');
  bystander.send('measured');
  return (await said)[0] as Measured;
}

const p99 = ({ latencies }: Measured) => latencies[Math.ceil(latencies.length * 0.99) - 1] ?? Number.POSITIVE_INFINITY;

function latencyLine(met: Measured): string {
  const at = (share: number) => met.latencies[Math.ceil(met.latencies.length * share) - 1]?.toFixed(1);
  return `the bystander got ${met.latencies.length} of ${met.asked} answers, p50 ${at(0.5)}, p99 ${at(0.99)}, max ${at(1)} ms`;
}

function rssMb(): number {
  return Math.round(rssKb(program.pid) / 1024);
}

/** Reads /proc on Linux: elsewhere `ps` starts a process for each sample. */
function rssKb(pid: number | undefined): number {
  if (process.platform !== 'linux') {
    return Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' }));
  }
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
}

/** Returns whether a daemon can handle these parameters. */
function isFit(params: string): boolean {
  if (params.length > MAX_CALL_CHARACTERS || holdsNul(params)) return false;
  let depth = 0;
  for (const [token] of params.matchAll(/"(?:[^"\\]|\\.)*"|[[{]|[\]}]/g)) {
    if (token === '[' || token === '{') depth++;
    else if (token === ']' || token === '}') depth--;
    if (depth > MAX_NESTING) return false;
  }
  return true;
}
