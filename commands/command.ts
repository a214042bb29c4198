/** What every command gets and answers. */
import type { Logger } from '../infra/logger.ts';
import type { Config } from '../schemas/config.ts';

export interface CommandContext {
  readonly config: Config;
  readonly args: readonly string[];
  readonly logger: Logger;
  readonly print: (line: string) => void;
  readonly signal: AbortSignal;
}

export interface Command {
  readonly name: string;
  /** One line of `--help`. */
  readonly summary: string;
  /** Text of `<command> --help` below the summary. */
  readonly usage: string;
  /** → exit code: 0 only when what was asked holds. */
  run(context: CommandContext): Promise<number>;
}
