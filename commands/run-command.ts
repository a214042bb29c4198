/** Runs a command line and returns its exit code. The modules of a command are loaded only when it runs. */
import type { ControlOutput } from '../infra/control-socket/control-socket.ts';
import { type Config, usesDataFolder } from '../schemas/config.ts';
import { PermanentError } from '../schemas/errors.ts';
import { answer } from './answer.ts';
import type { CommandContext } from './command.ts';
import type { CommandName, InputOf } from './command-table.ts';
import { helpOf, listCommands } from './help.ts';
import { asksForHelp, type ParsedCommand, parseCommand } from './parse-command.ts';
import { release } from './release.ts';
import { endSignal } from './signals.ts';
import {
  isPostgresCommand,
  isStoreCommand,
  type Modules,
  type PostgresCommandName,
  runModule,
  runPostgresCommand,
  runStoreCommand,
  type StoreCommandName,
} from './store-commands.ts';

type ProgramName = Exclude<CommandName, StoreCommandName>;

const MODULES: Modules<CommandContext, ProgramName> = {
  start: () => import('./run-service.ts'),
  check: () => import('./check/run-check.ts'),
  config: () => import('./config.ts'),
  'play-recording': () => import('./play-recording.ts'),
};

/** A signal ends these commands at once: they have nothing to clean up, and may be waiting for silent servers. */
const ENDED_AT_ONCE: ReadonlySet<ProgramName> = new Set(['check', 'config']);

/** Returns the exit code. @throws UsageError, and errors of the command */
export async function runCommand(words: readonly string[], streams: ControlOutput): Promise<number> {
  const [first, ...rest] = words;
  if (first === undefined) {
    streams.progress(listCommands(release));
    return 2;
  }
  if (asksForHelp(first) || (first === 'help' && rest.length === 0)) {
    streams.print(listCommands(release));
    return 0;
  }
  if (first === '--version') {
    streams.print(release);
    return 0;
  }
  const parsed = parseCommand(first === 'help' ? [...rest, '--help'] : words);
  if (parsed.help) {
    streams.print(helpOf(parsed.name));
    return 0;
  }
  return run(parsed, words, streams);
}

async function run(parsed: ParsedCommand, words: readonly string[], streams: ControlOutput): Promise<number> {
  const { name } = parsed;
  if (!isStoreCommand(name)) return runProgram(name, parsed, streams);
  const { loadConfig } = await import('../infra/config/load-config.ts');
  const config = loadConfig(process.env);
  if (isPostgresCommand(name) && !usesDataFolder(config)) return runOnPostgres(config, name, parsed, streams);
  return (await askRunning(config, words, streams)) ?? runOnStores(config, parsed, streams);
}

async function runProgram(name: ProgramName, parsed: ParsedCommand, streams: ControlOutput): Promise<number> {
  const signal = endSignal(); // first: a signal while modules are loaded would kill the process
  if (ENDED_AT_ONCE.has(name)) signal.addEventListener('abort', () => process.exit(1), { once: true });
  const { loadConfig } = await import('../infra/config/load-config.ts');
  const config = loadConfig(process.env);
  const { createLogger } = await import('../infra/logger.ts');
  const logger = createLogger(config.logLevel, name === 'start' ? 'stdout' : 'stderr');
  const context = { config, logger, signal };
  const input = parsed.input as InputOf<typeof name>;
  return answer(parsed, streams, (output) => runModule(MODULES, name, context, input, output));
}

/** Returns null when no running service holds the data folder. */
async function askRunning(config: Config, words: readonly string[], streams: ControlOutput): Promise<number | null> {
  if (!usesDataFolder(config)) return null;
  const { askService } = await import('../infra/control-socket/control-socket.ts');
  const [command = '', ...args] = words;
  return askService(config.dataDir, { command, args }, streams);
}

async function runOnPostgres(
  config: Config,
  name: PostgresCommandName,
  parsed: ParsedCommand,
  streams: ControlOutput,
): Promise<number> {
  const { createLogger } = await import('../infra/logger.ts');
  const { openPostgresAlone } = await import('./open-resources.ts');
  const logger = createLogger(config.logLevel, 'stderr');
  const signal = endSignal();
  const postgres = await unlessStopped(signal, streams, () => openPostgresAlone(config, logger));
  try {
    return await runPostgresCommand({ config, logger, stores: { postgres }, signal }, name, parsed, streams);
  } finally {
    await postgres.close();
  }
}

async function runOnStores(config: Config, parsed: ParsedCommand, streams: ControlOutput): Promise<number> {
  const { createLogger } = await import('../infra/logger.ts');
  const { openResources } = await import('./open-resources.ts');
  const logger = createLogger(config.logLevel, 'stderr');
  const signal = endSignal();
  const open = () => openResources(config, logger);
  // A signal does not interrupt the opening of a data folder: its embedded stores answer soon and must be closed in order.
  const opened = usesDataFolder(config) ? open() : unlessStopped(signal, streams, open);
  const { stores, log, close } = await opened;
  try {
    return await runStoreCommand({ config, logger, stores, log, signal }, parsed, streams);
  } finally {
    await close();
  }
}

/** Exits the process on a signal while `open` runs: servers may not answer for minutes, and their work ends with the connection. */
async function unlessStopped<T>(signal: AbortSignal, streams: ControlOutput, open: () => Promise<T>): Promise<T> {
  const stop = () => {
    const { message, code } = new PermanentError(
      'command_stopped',
      'The command was stopped before the stores were open.',
    );
    streams.progress(`verustream: ${message} (${code})`);
    process.exit(1);
  };
  signal.addEventListener('abort', stop, { once: true });
  try {
    return await open();
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
