/** Runs a program of Postgres to its end. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import type { Command } from './server-user.ts';

/** Writes `input` to the program and returns its output. @throws Error with the program's error output */
export async function runTool({ file, args, options }: Command, input = ''): Promise<string> {
  // Ctrl-C in a terminal signals a whole process group: the program finishes first, and then this process ends.
  const child = spawn(file, args, { ...options, stdio: 'pipe', detached: true });
  const ended = once(child, 'close');
  child.stdin.on('error', () => undefined); // the program ended early, for a reason that it has printed
  child.stdin.end(input);
  const [output, said, [code, signal]] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  if (code !== 0) throw new Error(said.trim() || `${file} ended with ${signal ?? code}`);
  return output;
}
