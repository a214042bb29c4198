/** The programs of examples/, run as their readers run them: killed while the chain moves and reorganises, and started again. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ROOT } from '../house/source-files.ts';
import { CHAIN, type RunningService, startService } from './running-service.ts';
import type { LooseJson } from './truth.ts';

const FORK = 845;
const folder = mkdtempSync(join(tmpdir(), 'verustream-examples-'));
const bots = new Set<ChildProcess>();
let service: RunningService;
beforeAll(async () => {
  service = await startService({ startHeight: 780 });
  await service.settled();
});
afterAll(async () => {
  for (const bot of bots) bot.kill('SIGKILL');
  await service?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const BOTS = {
  'follow-conversions.ts': [process.execPath, '--disable-warning=ExperimentalWarning'],
  'follow_conversions.py': ['python3'],
} as const;
const running = Object.keys(BOTS) as (keyof typeof BOTS)[];

const stateFile = (name: string) => join(folder, `${name}.json`);

function start(name: keyof typeof BOTS): ChildProcess {
  const [command = '', ...flags] = BOTS[name];
  const args = [...flags, join(ROOT, 'examples', name), service.url, stateFile(name)];
  const bot = spawn(command, args, { stdio: 'ignore' });
  bots.add(bot);
  bot.once('exit', () => bots.delete(bot));
  return bot;
}

async function step(blocks: number): Promise<void> {
  for (let made = 0; made < blocks; made += 1) service.node.step();
  await service.settled();
}

const stateOf = (name: string): LooseJson =>
  existsSync(stateFile(name)) ? JSON.parse(readFileSync(stateFile(name), 'utf8')) : null;

/** A saved state is up to a second old, and is saved only when an event arrives. */
async function untilAtTip(name: string): Promise<void> {
  await expect
    .poll(async () => {
      const height = stateOf(name)?.heights[CHAIN];
      if (height !== service.node.height) await step(1);
      return height === service.node.height;
    })
    .toBe(true);
}

it(`${running.join(' and ')} follow the chain over kills and a reorganisation`, async () => {
  let lives = running.map((name) => ({ name, bot: start(name) }));
  for (const { name } of lives) await untilAtTip(name);
  const begun = service.node.height;
  for (const blocks of [10, 25]) {
    await step(blocks);
    for (const { bot } of lives) {
      bot.kill('SIGKILL');
      if (bot.exitCode === null && bot.signalCode === null) await once(bot, 'exit');
    }
    await step(5);
    lives = running.map((name) => ({ name, bot: start(name) }));
  }
  while (service.node.height < FORK + 20) await step(5);
  for (const { name } of lives) {
    await untilAtTip(name);
    const held = new Map<string, string>();
    for (const { conversion } of stateOf(name).changes)
      held.set(`${conversion.txid}:${conversion.vout}`, conversion.status);
    const list: LooseJson = await (await fetch(`${service.url}/api/conversions/?pageSize=200`)).json();
    const listed = list.results.filter(({ height }: LooseJson) => height > begun);
    expect(listed.length).toBeGreaterThan(5);
    expect(listed.map(({ txid, vout }: LooseJson) => held.get(`${txid}:${vout}`))).toEqual(
      listed.map(({ status }: LooseJson) => status),
    );
  }
});
