/** Declaration, input and outcome of a command. */
import type { EventLog } from '../infra/event-log/event-log.ts';
import type { Logger } from '../infra/logger.ts';
import type { Stores } from '../infra/stores.ts';
import type { Config } from '../schemas/config.ts';

export interface Argument {
  readonly summary: string;
  readonly optional?: true;
  /** The allowed values; any text is allowed if absent. */
  readonly choices?: readonly string[];
}

export interface Option {
  readonly summary: string;
  /** Placeholder for the value; an option without it is a switch. */
  readonly value?: string;
}

/** The declaration of a command, for help, parser and docs/commands.md; loading it does not load the command itself. */
export interface CommandSpec {
  /** One line for `--help`. */
  readonly summary: string;
  /** In the order of the command line. */
  readonly arguments: Readonly<Record<string, Argument>>;
  readonly options: Readonly<Record<string, Option>>;
  /** Whether the command prints state and therefore accepts `--json`. */
  readonly json: boolean;
  readonly notes: readonly string[];
}

/** Output of a running command. */
export interface Output {
  /** Prints a line of the answer; does nothing with `--json`. */
  line(text: string): void;
  /** Prints many short texts, which include line breaks, no faster than they are read and with pauses for other work; nothing with `--json`. */
  write(texts: Iterable<string>): Promise<void>;
  /** Prints the progress of a long command on stderr. */
  progress(text: string): void;
}

export interface CommandOutcome {
  /** 0 only on success. */
  readonly exitCode: 0 | 1;
  /** The document that `--json` prints, described by schemas/command-output.json; null for a command without `--json`. */
  readonly state: object | null;
}

export interface CommandContext {
  readonly config: Config;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

/** The context of commands that need only Postgres. */
export interface PostgresContext extends CommandContext {
  readonly stores: Pick<Stores, 'postgres'>;
}

/** The context of commands that need all stores; a running service answers them for its own data folder. */
export interface StoreContext extends PostgresContext {
  readonly stores: Stores;
  readonly log: EventLog;
  /** Whether a running service answers the command. */
  readonly isServing?: boolean;
}

export type Run<Context, Input> = (context: Context, input: Input, output: Output) => Promise<CommandOutcome>;
