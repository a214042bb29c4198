/** Runs append-until-killed.ts and kills it (SIGKILL) at a random moment of its appends. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { NODE_FLAGS } from '../node-flags.ts';
import type { AppenderOptions } from './append-until-killed.ts';

const SCRIPT = fileURLToPath(new URL('append-until-killed.ts', import.meta.url));

/** Waits `afterMs` after the first acknowledged append. Returns the last next position that was acknowledged. */
export async function killWriter(options: AppenderOptions, afterMs: number): Promise<number> {
  const child = spawn(process.execPath, [...NODE_FLAGS, SCRIPT, JSON.stringify(options)], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(child, 'close');
  let acknowledged = '';
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text) => {
    errors += text;
  });
  const first = new Promise<void>((resolve) => {
    child.stdout.setEncoding('utf8').on('data', (text) => {
      acknowledged += text;
      resolve();
    });
  });
  await Promise.race([first, ended]);
  await sleep(afterMs);
  child.kill('SIGKILL');
  const [, signal] = await ended;
  if (signal !== 'SIGKILL') throw new Error(`the appending process ended by itself: ${errors}`);
  // The last line may be incomplete.
  return Number(acknowledged.slice(0, acknowledged.lastIndexOf('\n')).split('\n').at(-1));
}
