/** Kills the embedded ClickHouse of a running program: it is restarted, work continues, and nothing is lost. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createRandom } from '../../recordings/player/faults.ts';
import { NATIVE } from '../generator/addresses.ts';
import { startChainDaemon } from '../generator/chain-daemon.ts';
import { EVERYTHING } from '../generator/mixes.ts';
import { SEED } from '../setup/seed.ts';
import { engineProcesses, isRunning } from '../support/infra/clickhouse/engine-processes.ts';
import { runCommand, startProgram, until } from './program.ts';
import { CHAIN, settingsFor, settingsForAll, startNode, untilServed } from './recorded-chain.ts';

const MINUTES = 60_000;
const KILLS = Number(process.env.CLICKHOUSE_KILLS ?? 6);
const FIRST_BLOCKS = 40;
const MOST_BLOCKS = 12;
const DEEPEST = 6;
const LONGEST_PAUSE_MS = 800;

it(
  `${KILLS} kills of the embedded ClickHouse while a chain grows and changes branches (TEST_SEED=${SEED})`,
  async () => {
    const random = createRandom(SEED);
    const daemon = await startChainDaemon(
      { seed: SEED, addresses: 30, transactions: 5, mix: EVERYTHING },
      FIRST_BLOCKS,
    );
    const chain = { name: CHAIN, rpc: daemon.url, stableAnchors: [NATIVE], minBasketAge: 2 };
    const settings = settingsForAll([chain], { minBasketDepthUsd: 0 });
    const program = await startProgram(settings).answers();
    const engine = () => engineProcesses(program.pid ?? 0)[0] ?? 0;
    await until('it runs', () => engine() > 0);
    for (let kill = 1; kill <= KILLS; kill++) {
      if (random() < 0.3) daemon.reorganise(1 + Math.floor(random() * DEEPEST), DEEPEST + 1);
      else daemon.grow(1 + Math.floor(random() * MOST_BLOCKS));
      await sleep(random() * LONGEST_PAUSE_MS);
      const killed = engine();
      if (killed > 0) process.kill(killed, 'SIGKILL');
      await until('another runs', () => ![0, killed].includes(engine()));
    }
    daemon.grow(1);
    await untilServed(program, daemon, 3 * MINUTES);
    await until('it is ready', async () => (await program.get('/api/health/ready')).status === 200);
    expect(program.output()).not.toMatch(/unhandled|uncaught/i);
    for (const command of ['verify', 'audit', 'status']) {
      const { code, output } = await runCommand([command], settings);
      expect(code, `${command}: ${output}`).toBe(0);
    }
    const stopped = program.complaints().filter(({ level, stage }) => level > 40 && stage !== undefined);
    expect(stopped, 'no stage stops for good').toEqual([]);
    expect(await program.kill('SIGTERM')).toMatchObject({ code: 0 });
    await daemon.stop();
  },
  6 * MINUTES,
);

it('a killed program leaves no engine behind, and the next start finds the folder free', async () => {
  const node = await startNode(20);
  const settings = settingsFor(node.url);
  for (let start = 0; start < 2; start++) {
    const program = await startProgram(settings).answers();
    const [engine = 0] = engineProcesses(program.pid ?? 0);
    expect(engine).toBeGreaterThan(0);
    await program.kill('SIGKILL');
    await until('the engine ends', () => !isRunning(engine));
  }
  const program = await startProgram(settings).answers();
  await untilServed(program, node);
  expect(await program.kill('SIGTERM')).toMatchObject({ code: 0 });
});
