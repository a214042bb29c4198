/**
 * Kills the whole program with SIGKILL at any moment, while it catches up and while its daemon changes branches. In the end it serves the
 * same data as a program that was never killed and never saw another branch.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, expect, it } from 'vitest';
import { createRandom } from '../../recordings/player/faults.ts';
import type { RecordedNode } from '../../recordings/player/recorded-node.ts';
import { SEED } from '../setup/seed.ts';
import { type Left, leftBy } from './digests.ts';
import { type Program, type ProgramSettings, runCommand, startProgram, until } from './program.ts';
import { CHAIN, settingsFor, startNode, untilServed } from './recorded-chain.ts';

const MINUTES = 60_000;
const KILLS = Number(process.env.SYSTEM_KILLS ?? 4);
/** The other kills happen while the daemon changes branches. */
const KILLS_IN_CATCH_UP = Math.min(4, Math.ceil(KILLS / 2));
/** Share of the runs that may end before the program answers. */
const EARLY_DEATHS = 0.25;
const LONGEST_LIFE_MS = 3000;
const AFTER_FORK = 15;

const random = createRandom(SEED);
let node: RecordedNode;
let end: number;
let undisturbed: ProgramSettings & { readonly DATA_DIR: string };
let expected: Left;

beforeAll(async () => {
  node = await startNode(0);
  end = node.fork + AFTER_FORK;
  node.advanceTo(end);
  undisturbed = settingsFor(node.url);
  const program = await startProgram(undisturbed).answers();
  await untilServed(program, node);
  expect(await program.kill('SIGTERM')).toMatchObject({ code: 0 });
  expected = await leftBy(undisturbed);
});

it(
  `${KILLS} kills (TEST_SEED=${SEED}) change nothing`,
  async () => {
    expect(expected).toMatchObject({ heights: end + 1, records: end + 1, rewinds: 0 });
    expect(expected.digests['clickhouse.conversions']?.rows).toBeGreaterThan(100);
    const settings = settingsFor(node.url);
    node.branch('main', node.fork - 5);
    for (let kill = 0; kill < KILLS_IN_CATCH_UP; kill++) await shortLife(startProgram(settings));

    await firstRewind(await startProgram(settings).answers());
    const changing = new AbortController();
    const changes = changeBranches(changing.signal);
    for (let kill = KILLS_IN_CATCH_UP + 1; kill < KILLS; kill++) await shortLife(startProgram(settings));
    changing.abort();
    await changes;

    node.branch('main', end);
    const survivor = await startProgram(settings).answers();
    await untilServed(survivor, node);
    await succeed([['verify'], ['audit'], ['status']], settings);
    expect(await survivor.kill('SIGTERM')).toMatchObject({ code: 0 });
    // The digests replace both commands here: docs/decisions/0119-cpu-of-whole-programs.md.
    const left = await leftBy(settings);
    expect(left.rewinds).toBeGreaterThan(0);
    expect({ ...left, records: end + 1, rewinds: 0 }).toEqual(expected);
  },
  60 * MINUTES,
);

it('rebuilds ClickHouse when its folder was removed, and keeps data that only Postgres has', async () => {
  const tier = ['keys', CHAIN, 'i5f5njYtso65186mo5WHMkRme9YG6hrZE2'];
  await succeed([[...tier, 'pro']], undisturbed);
  rmSync(join(undisturbed.DATA_DIR, 'clickhouse'), { recursive: true });
  const program = await startProgram(undisturbed).answers();
  await until('all is derived again', () => program.output().includes('derived again from the log'));
  await until('prices are taken back', () => program.output().includes('price: ticks undone'));
  await untilServed(program, node);
  await succeed([['verify'], ['audit']], undisturbed);
  const { output } = await runCommand(tier, undisturbed);
  expect(output).toContain('tier pro');
  expect(await program.kill('SIGTERM')).toMatchObject({ code: 0 });
});

async function succeed(commands: readonly (readonly string[])[], settings: ProgramSettings): Promise<void> {
  for (const command of commands) {
    const { code, output } = await runCommand(command, settings);
    expect(code, `${command.join(' ')}: ${output}`).toBe(0);
  }
}

async function shortLife(program: Program): Promise<void> {
  if (random() > EARLY_DEATHS) await program.answers();
  await sleep(random() * LONGEST_LIFE_MS);
  expect(await program.kill('SIGKILL')).toMatchObject({ signal: 'SIGKILL' });
}

/** Kills the program right after the log has the first reorganisation, which the metrics show. */
async function firstRewind(program: Program): Promise<void> {
  node.branch('orphan', node.fork + 3);
  await until('the branch that will lose is in the log', () => program.output().includes(`"height":${node.fork + 3}`));
  node.branch('main', node.fork + 2);
  await until('the reorganisation', () => program.output().includes('chain reorganised'));
  const { body } = await program.get('/metrics');
  await program.kill('SIGKILL');
  expect(body).toContain('verustream_rewind_depth_blocks_sum{chain="vrsc"} 3\n');
}

/** A daemon that keeps switching branches. */
async function changeBranches(signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const blocks = Math.floor(random() * 8);
    if (random() < 0.5) node.branch('orphan', node.fork + 1 + blocks);
    else node.branch('main', node.fork + blocks);
    await sleep(50 + random() * 800);
  }
}
