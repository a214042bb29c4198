/** Errors of both implementations of the log. `partition` is topic/chain, such as `blocks/vrsc`. */
import { PermanentError, RetryableError } from '../../schemas/errors.ts';

/** A position is missing between two records, or is no longer kept. */
export class LogGap extends PermanentError {
  constructor(message: string) {
    super('log_gap', message);
  }
}

/** The position already contains a different record. */
export class LogConflict extends PermanentError {
  constructor(partition: string, position: number) {
    const advice = 'Two writers disagree: read the last record and continue from there.';
    super('log_conflict', `position ${position} of ${partition} already holds a different record. ${advice}`);
  }
}

/** Stored bytes differ from what was written. Nothing was overwritten. */
export class LogCorrupt extends PermanentError {
  constructor(message: string, options?: ErrorOptions) {
    super('log_corrupt', message, options);
  }
}

/** Another writer has taken over and this one has ended. Opening a third would only fence the other. */
export class LogWriterFenced extends PermanentError {
  constructor(message: string) {
    super('log_writer_fenced', message);
  }
}

export class LogRecordTooLarge extends PermanentError {
  constructor(partition: string, position: number, bytes: number, maxBytes: number) {
    const message = `record ${position} of ${partition} has ${bytes} bytes; the log takes ${maxBytes}`;
    super('log_record_too_large', message);
  }
}

export class LogClosed extends PermanentError {
  constructor(what: string) {
    super('log_closed', `${what} is in use after it was closed`);
  }
}

/** The disk is full, and none of the batch was written. The same append succeeds once there is space. */
export class LogStorageFull extends RetryableError {
  constructor(file: string, options?: ErrorOptions) {
    super(
      'log_storage_full',
      `no space left for the log: ${file}. Free some space; nothing of the batch was written.`,
      options,
    );
  }
}

export class LogStorageReadonly extends PermanentError {
  constructor(path: string, options?: ErrorOptions) {
    const message = `the log cannot be written: ${path} is read-only for this user. Change its owner or mode, or DATA_DIR.`;
    super('log_storage_readonly', message, options);
  }
}

/** A program other than verustream keeps the file locked. */
export class LogStorageBusy extends RetryableError {
  constructor(file: string, options?: ErrorOptions) {
    super('log_storage_busy', `another program holds a lock on the log file ${file}: end that program`, options);
  }
}

/** Any other failure of the disk. */
export class LogStorageFailed extends PermanentError {
  constructor(path: string, reason: string, options?: ErrorOptions) {
    super('log_storage_failed', `the log could not be read or written: ${path}: ${reason}`, options);
  }
}

/** The broker does not answer. Whether an append took place is unknown: append the same records again. */
export class LogUnreachable extends RetryableError {
  constructor(message: string, options?: ErrorOptions) {
    super('log_unreachable', message, options);
  }
}
