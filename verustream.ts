#!/usr/bin/env node
/** The program: one command line, one exit code. `npm start` is `verustream start`. */
import { check } from './commands/check.ts';
import type { Command } from './commands/command.ts';
import { config } from './commands/config.ts';
import { DEAD_LETTERS_USAGE } from './commands/dead-letters-usage.ts';
import { onStores } from './commands/on-stores.ts';
import { playRecording } from './commands/play-recording.ts';
import { release } from './commands/release.ts';
import { REPROCESS_USAGE } from './commands/reprocess-arguments.ts';
import { endSignal } from './commands/signals.ts';
import { start } from './commands/start.ts';
import { loadConfig } from './infra/config/load-config.ts';
import { createLogger } from './infra/logger.ts';
import { VerustreamError } from './schemas/errors.ts';

const COMMANDS: readonly Command[] = [
  start,
  check,
  onStores('status', 'show how each stage of each chain stands', 'Exit code 0 when nothing is stopped or in error.'),
  onStores(
    'verify',
    'derive again from the log into fresh stores and compare with what is served',
    'Exit code 0 when every digest is equal.',
  ),
  onStores('reprocess', 'stamp history again beside what is served, compare, swap and swap back', REPROCESS_USAGE),
  onStores('dead-letters', 'list, show and derive again what could not be decoded', DEAD_LETTERS_USAGE),
  onStores('audit', 'compare what Postgres and ClickHouse hold', 'Exit code 0 when both hold the same.'),
  onStores(
    'accept-rewind',
    'let a chain be taken back below finality, to exactly one block',
    'accept-rewind <chain> <height> <hash>: height and hash of the newest block that stays, as the stopped tailer names them.',
  ),
  onStores(
    'keys',
    'show or set the tier of an identity, and show its keys',
    'keys <chain> <identity> [free|developer|pro]: the identity by name@ or i-address. A new tier counts at once, on every process.',
  ),
  config,
  playRecording,
];

function help(): string {
  const width = Math.max(...COMMANDS.map(({ name }) => name.length));
  const lines = COMMANDS.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`);
  return [`verustream ${release}`, '', 'Usage: verustream <command> [--help]', '', ...lines].join('\n');
}

async function main([name, ...args]: readonly string[]): Promise<number> {
  const print = (line: string) => console.log(line);
  if (!name || name === '--help' || name === 'help') {
    print(help());
    return name ? 0 : 2;
  }
  const command = COMMANDS.find((candidate) => candidate.name === name);
  if (!command) {
    console.error(`unknown command "${name}"\n\n${help()}`);
    return 2;
  }
  if (args.includes('--help')) {
    print(`verustream ${name}: ${command.summary}\n${command.usage}`);
    return 0;
  }
  const effective = loadConfig(process.env);
  const logger = createLogger(effective.logLevel, command === start ? 'stdout' : 'stderr');
  return command.run({ config: effective, args, logger, print, signal: endSignal() });
}

process.umask(0o077); // what it writes is for its user alone
try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof VerustreamError)) throw error;
  console.error(`verustream: ${error.message} (${error.code})`);
  process.exitCode = 1;
}
