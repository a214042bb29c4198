/** Classifies errors of Postgres, for stages, the API and readiness alike. */
import { messageOf, PermanentError, RetryableError } from '../../schemas/errors.ts';
import { PostgresConnectionError } from './connection-errors.ts';

/** A failure that passes without a change of the configuration: the caller waits and retries. */
export class PostgresTrouble extends RetryableError {}

export class PostgresRefused extends PermanentError {
  constructor(message: string, cause: unknown) {
    super('postgres_refused', message, { cause });
  }
}

interface Kind {
  readonly code: string;
  readonly says: string;
  /** Matches the SQLSTATE or the operating system's error code of the socket. */
  readonly sign: RegExp;
}

const UNREACHABLE: Kind = {
  code: 'postgres_unreachable',
  says: 'Postgres cannot be reached',
  sign: /^(08|57P0[1245]|25P0[34]|ECONN|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|EHOSTDOWN|ENOTFOUND|EAI_AGAIN|ENOENT)/,
};

const KINDS: readonly Kind[] = [
  { code: 'postgres_starting', says: 'Postgres is starting, recovering or shutting down', sign: /^57P03/ },
  { code: 'postgres_full', says: 'Postgres has no connection left', sign: /^53300/ },
  { code: 'postgres_read_only', says: 'Postgres takes no writes', sign: /^25006/ },
  { code: 'postgres_overloaded', says: 'Postgres lacks disk space or memory', sign: /^53/ },
  { code: 'postgres_interrupted', says: 'Postgres cancelled a statement', sign: /^(40001|40P01|57014)/ },
  UNREACHABLE,
];

/** Returns null for an error that does not come from Postgres or does not pass by itself. */
export function postgresTrouble(error: unknown): PostgresTrouble | null {
  if (error instanceof PostgresTrouble) return error;
  if (!(error instanceof Error) || error instanceof RetryableError || error instanceof PermanentError) return null;
  if (error instanceof PostgresConnectionError) return troubleOf(UNREACHABLE, error);
  const { code, syscall } = error as { code?: unknown; syscall?: unknown };
  if (code === 'ENOENT' && syscall !== 'connect') return null;
  const kind = typeof code === 'string' ? KINDS.find(({ sign }) => sign.test(code)) : undefined;
  return kind ? troubleOf(kind, error) : null;
}

/** Classifies an error that can only come from the connection to Postgres. */
export function unreachable(error: unknown): PostgresTrouble {
  return postgresTrouble(error) ?? troubleOf(UNREACHABLE, error);
}

function troubleOf({ code, says }: Kind, cause: unknown): PostgresTrouble {
  const message = messageOf(cause);
  return new PostgresTrouble(code, `${says}: ${message}`, { cause });
}
