/** Kills `verustream export` of the real program while it writes: readers see only complete files, and the same command continues. */
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { DATASET_TABLES } from '../../schemas/datasets/tables.ts';
import { readJsonOutput } from '../support/commands/command-output.ts';
import { checkFolder, countRows, readManifest } from '../support/datasets/check-folder.ts';
import { openDuckDb } from '../support/datasets/duckdb.ts';
import { runCommand, startProgram } from '../system/program.ts';
import { settingsFor, startNode, temporaryFolder, untilServed } from '../system/recorded-chain.ts';

const KILLS = 4;

const beingWritten = (folder: string): string[] => {
  try {
    return readdirSync(join(folder, '.writing'));
  } catch {
    return []; // not created yet
  }
};

it('kill -9 at any moment leaves complete files and correct manifests', async () => {
  const node = await startNode(1_400);
  const settings = settingsFor(node.url);
  const program = await startProgram(settings).answers();
  await untilServed(program, node);
  expect((await program.kill('SIGTERM')).code).toBe(0);
  const folder = join(temporaryFolder(), 'out');
  expect((await runCommand(['export', folder], settings)).code).toBe(0);
  const files = await checkFolder(folder);
  let underWay = 0;
  for (let kill = 0; kill < KILLS; kill++) {
    rmSync(join(folder, 'notes'), { recursive: true, force: true }); // so that every file is written again
    const exporting = startProgram(settings, { args: ['export', folder] });
    let isEnded = false;
    void exporting.ended.then(() => {
      isEnded = true;
    });
    // Killed in the middle of a file, each time a few files later.
    let seen = new Set<string>();
    while (!isEnded && seen.size <= kill * 3) {
      seen = new Set([...seen, ...beingWritten(folder)]);
      await sleep(1);
    }
    await exporting.kill('SIGKILL');
    underWay += beingWritten(folder).length;
    expect(await checkFolder(folder)).toBe(files);
  }
  expect(underWay).toBeGreaterThan(0);
  const ended = await runCommand(['export', folder, '--json'], settings);
  expect(ended.code, ended.output).toBe(0);
  expect(readJsonOutput(ended.stdout)).toMatchObject({ command: 'export', destination: folder });
  expect(await checkFolder(folder)).toBe(files);
  expect(beingWritten(folder)).toEqual([]);
  const duckdb = await openDuckDb();
  expect(await countRows(duckdb, folder, 'blocks')).toBe(1_401);
  for (const { name } of DATASET_TABLES) {
    const named = (await readManifest(folder, name)).reduce((sum, { rows }) => sum + rows, 0);
    expect(await countRows(duckdb, folder, name), name).toBe(named);
  }
  duckdb.close();
}, 300_000);
