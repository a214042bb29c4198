/** Gives each failure of a command on the stores a code, whether the command opened the stores itself or a service answers it. */
import { postgresTrouble } from '../infra/postgres/postgres-errors.ts';
import { PermanentError, VerustreamError } from '../schemas/errors.ts';

class CommandStopped extends PermanentError {
  constructor(cause: unknown) {
    super('command_stopped', 'The command was stopped before its end.', { cause });
  }
}

/** @throws errors of `work`: those of Postgres as PostgresTrouble, and CommandStopped for one without a code after `signal` aborted */
export async function withCodes<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (signal.aborted && !(error instanceof VerustreamError)) throw new CommandStopped(error);
    throw postgresTrouble(error) ?? error;
  }
}
