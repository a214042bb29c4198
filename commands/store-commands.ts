/** Commands on the stores: a running service answers them for its data folder; otherwise the command opens the stores itself. */
import type { ControlHandler, ControlOutput } from '../infra/control-socket/control-socket.ts';
import { PermanentError } from '../schemas/errors.ts';
import { answer } from './answer.ts';
import { withCodes } from './coded-failures.ts';
import type { CommandOutcome, Output, PostgresContext, Run, StoreContext } from './command.ts';
import type { CommandName, InputOf } from './command-table.ts';
import { type ParsedCommand, parseCommand } from './parse-command.ts';

export type StoreCommandName = Exclude<CommandName, 'start' | 'check' | 'config' | 'play-recording'>;
/** Commands that work while ClickHouse or the log is unavailable, so that the operator can see the cause. */
export type PostgresCommandName = 'status' | 'dead-letters list' | 'keys' | 'accept-rewind';

export type Modules<Context, Name extends CommandName> = {
  readonly [N in Name]: () => Promise<{ readonly run: Run<Context, InputOf<N>> }>;
};

const ON_POSTGRES: Modules<PostgresContext, PostgresCommandName> = {
  status: () => import('./status.ts'),
  'dead-letters list': () => import('./dead-letters/list.ts'),
  keys: () => import('./keys.ts'),
  'accept-rewind': () => import('./accept-rewind.ts'),
};

const MODULES: Modules<StoreContext, StoreCommandName> = {
  ...ON_POSTGRES,
  verify: () => import('./verify.ts'),
  audit: () => import('./audit.ts'),
  reprocess: () => import('./reprocess.ts'),
  sql: () => import('./sql.ts'),
  export: () => import('./export.ts'),
  'dead-letters show': () => import('./dead-letters/show.ts'),
  'dead-letters redrive': () => import('./dead-letters/redrive.ts'),
};

export function isStoreCommand(name: CommandName): name is StoreCommandName {
  return Object.hasOwn(MODULES, name);
}

export function isPostgresCommand(name: CommandName): name is PostgresCommandName {
  return Object.hasOwn(ON_POSTGRES, name);
}

/** → exit code */
export async function runPostgresCommand(
  context: PostgresContext,
  name: PostgresCommandName,
  parsed: ParsedCommand,
  output: ControlOutput,
): Promise<number> {
  const input = parsed.input as InputOf<typeof name>;
  const run = (lines: Output) => runModule(ON_POSTGRES, name, context, input, lines);
  return withCodes(context.signal, () => answer(parsed, output, run));
}

/** → exit code */
export async function runStoreCommand(
  context: StoreContext,
  parsed: ParsedCommand,
  output: ControlOutput,
): Promise<number> {
  const { name, input } = parsed;
  if (!isStoreCommand(name)) {
    throw new PermanentError('unknown_command', `The running service does not answer the command "${name}".`);
  }
  const run = (lines: Output) => runModule(MODULES, name, context, input as InputOf<typeof name>, lines);
  return withCodes(context.signal, () => answer(parsed, output, run));
}

/** Parses the command line again, since the service may have another version than the client. */
export function answerControl(context: Omit<StoreContext, 'signal'>): ControlHandler {
  return ({ command, args }, output, signal) =>
    runStoreCommand({ ...context, signal, isServing: true }, parseCommand([command, ...args]), output);
}

export async function runModule<Context, Name extends CommandName, N extends Name>(
  modules: Modules<Context, Name>,
  name: N,
  context: Context,
  input: InputOf<N>,
  output: Output,
): Promise<CommandOutcome> {
  const { run } = await modules[name]();
  return run(context, input, output);
}
