/** Declaration, input and outcome of a command. */
import type { EventLog } from '../infra/event-log/event-log.ts';
import type { Logger } from '../infra/logger.ts';
import type { Stores } from '../infra/stores.ts';
import type { Config } from '../schemas/config.ts';

export interface Argument {
  readonly summary: string;
  readonly optional?: true;
  /** Every value that is allowed; any text when absent. */
  readonly choices?: readonly string[];
}

export interface Option {
  readonly summary: string;
  /** Placeholder of its value; an option without one is a switch. */
  readonly value?: string;
}

/** The declaration of a command. Help, parser and docs/commands.md follow from it; it imports nothing that the command runs on. */
export interface CommandSpec {
  /** One line of `--help`. */
  readonly summary: string;
  /** In the order in which they are written. */
  readonly arguments: Readonly<Record<string, Argument>>;
  readonly options: Readonly<Record<string, Option>>;
  /** Whether it prints state and therefore takes `--json`. */
  readonly json: boolean;
  readonly notes: readonly string[];
}

/** Output of a running command. */
export interface Output {
  /** A line of the answer; dropped with `--json`. */
  line(text: string): void;
  /** Many short texts of the answer with their line breaks, no faster than they are read, while the process also serves. */
  write(texts: Iterable<string>): Promise<void>;
  /** How far a long command is: on stderr. */
  progress(text: string): void;
}

export interface CommandOutcome {
  /** 0 only on success. */
  readonly exitCode: 0 | 1;
  /** Document that `--json` prints, by schemas/command-output.json; null for a command without `--json`. */
  readonly state: object | null;
}

export interface CommandContext {
  readonly config: Config;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

/** Context of commands that need Postgres alone. */
export interface PostgresContext extends CommandContext {
  readonly stores: Pick<Stores, 'postgres'>;
}

/** Context of commands that a running service answers for its own data folder. */
export interface StoreContext extends PostgresContext {
  readonly stores: Stores;
  readonly log: EventLog;
  /** Whether a running service answers the command. */
  readonly isServing?: boolean;
}

export type Run<Context, Input> = (context: Context, input: Input, output: Output) => Promise<CommandOutcome>;
