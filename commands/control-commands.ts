/** Commands that work on the stores: a running service answers them for itself, else the command opens the folder. */
import type { ControlHandler } from '../infra/control-socket/control-socket.ts';
import type { EventLog } from '../infra/event-log/event-log.ts';
import type { Logger } from '../infra/logger.ts';
import type { Stores } from '../infra/stores.ts';
import type { Config } from '../schemas/config.ts';
import { PermanentError } from '../schemas/errors.ts';
import { printAcceptRewind } from './accept-rewind.ts';
import { printAudit } from './audit.ts';
import { printDeadLetters } from './dead-letters.ts';
import { printKeys } from './keys.ts';
import { printReprocess } from './reprocess.ts';
import { printStatus } from './status.ts';
import { printVerify } from './verify.ts';

export interface StoreContext {
  readonly config: Config;
  readonly stores: Stores;
  readonly log: EventLog;
  readonly logger: Logger;
}

/** → exit code */
export type StoreCommand = (
  context: StoreContext,
  args: readonly string[],
  print: (line: string) => void,
  signal: AbortSignal,
) => Promise<number>;

export const STORE_COMMANDS: Readonly<Record<string, StoreCommand>> = {
  status: ({ config, stores }, _args, print) => printStatus(config, stores, print),
  verify: (context, _args, print, signal) => printVerify(context, print, signal),
  'accept-rewind': (context, args, print) => printAcceptRewind(context, args, print),
  'dead-letters': (context, args, print, signal) => printDeadLetters(context, args, print, signal),
  keys: (context, args, print) => printKeys(context, args, print),
  audit: (context, _args, print, signal) => printAudit(context, print, signal),
  reprocess: (context, args, print, signal) => printReprocess(context, args, print, signal),
};

export function answerControl(context: StoreContext): ControlHandler {
  return ({ command, args }, print, signal) => {
    const run = STORE_COMMANDS[command];
    if (!run)
      throw new PermanentError('unknown_command', `The running service does not know the command "${command}".`);
    return run(context, args, print, signal);
  };
}
