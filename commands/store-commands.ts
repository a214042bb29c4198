/** Commands that work on the stores: a running service answers them for its folder, otherwise the command opens the stores. */
import type { ControlHandler, ControlOutput } from '../infra/control-socket/control-socket.ts';
import { PermanentError } from '../schemas/errors.ts';
import { answer } from './answer.ts';
import type { CommandOutcome, Output, Run, StoreContext } from './command.ts';
import type { CommandName, InputOf } from './command-table.ts';
import { type ParsedCommand, parseCommand } from './parse-command.ts';

export type StoreCommandName = Exclude<CommandName, 'start' | 'check' | 'config' | 'play-recording'>;

const MODULES: { readonly [N in StoreCommandName]: () => Promise<{ readonly run: Run<StoreContext, InputOf<N>> }> } = {
  status: () => import('./status.ts'),
  verify: () => import('./verify.ts'),
  audit: () => import('./audit.ts'),
  reprocess: () => import('./reprocess.ts'),
  sql: () => import('./sql.ts'),
  export: () => import('./export.ts'),
  'dead-letters list': () => import('./dead-letters/list.ts'),
  'dead-letters show': () => import('./dead-letters/show.ts'),
  'dead-letters redrive': () => import('./dead-letters/redrive.ts'),
  keys: () => import('./keys.ts'),
  'accept-rewind': () => import('./accept-rewind.ts'),
};

export function isStoreCommand(name: CommandName): name is StoreCommandName {
  return Object.hasOwn(MODULES, name);
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
  return answer(parsed, output, (lines) => runModule(name, context, input as InputOf<typeof name>, lines));
}

/** The service parses again: it may be of another version. */
export function answerControl(context: Omit<StoreContext, 'signal'>): ControlHandler {
  return ({ command, args }, output, signal) =>
    runStoreCommand({ ...context, signal, isServing: true }, parseCommand([command, ...args]), output);
}

async function runModule<N extends StoreCommandName>(
  name: N,
  context: StoreContext,
  input: InputOf<N>,
  output: Output,
): Promise<CommandOutcome> {
  const { run } = await MODULES[name]();
  return run(context, input, output);
}
