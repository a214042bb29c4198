/** Maps errors of SQLite and the file system to errors of the log. */
import { messageOf } from '../../../schemas/errors.ts';
import { isShortRead, SQLITE, sqliteCode } from '../../sqlite-errors.ts';
import { errorCode, isSystemError } from '../../system-errors.ts';
import { LogCorrupt, LogStorageBusy, LogStorageFailed, LogStorageFull, LogStorageReadonly } from '../log-errors.ts';

export const REPAIR_ADVICE =
  'Nothing was overwritten. Stop, keep a copy of the data folder, and restore it from a backup. Without one, save the accounts, ' +
  'which Postgres alone holds, start with an empty data folder, for which the daemons give all blocks again, and restore the accounts; ' +
  'webhooks are lost. docs/operate.md has the commands.';

/** Runs one access to `file`. An error is thrown as an error of the log that names the file and `what` was accessed. */
export function withStorageErrors<T>(file: string, what: string, access: () => T): T {
  try {
    return access();
  } catch (error) {
    throw storageError(file, what, error);
  }
}

function storageError(file: string, what: string, error: unknown): unknown {
  const cause = { cause: error };
  const system = errorCode(error);
  if (system === 'ENOSPC' || system === 'EDQUOT') return new LogStorageFull(file, cause);
  if (system === 'EACCES' || system === 'EROFS' || system === 'EPERM') return new LogStorageReadonly(file, cause);
  const code = sqliteCode(error);
  // A damaged row has a number beyond the range of JavaScript numbers.
  if (system === 'ERR_OUT_OF_RANGE') return new LogCorrupt(`${damaged(file, what)}. ${REPAIR_ADVICE}`, cause);
  if (code === null) return isSystemError(error) ? new LogStorageFailed(file, String(error), cause) : error;
  if (code === SQLITE.busy) return new LogStorageBusy(file, cause);
  if (code === SQLITE.full) return new LogStorageFull(file, cause);
  if (code === SQLITE.readonly) return new LogStorageReadonly(file, cause);
  const reason = messageOf(error);
  if (code === SQLITE.corrupt || code === SQLITE.notADatabase || isShortRead(error)) {
    return new LogCorrupt(`${damaged(file, `${what}: ${reason}`)}. ${REPAIR_ADVICE}`, cause);
  }
  return new LogStorageFailed(file, `${what}: ${reason}`, cause);
}

const damaged = (file: string, what: string) => `the log file ${file} is damaged (${what})`;
