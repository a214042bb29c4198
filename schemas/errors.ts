/** Two roots say by type whether a retry helps; every error carries a stable code that docs/errors.md explains. */

export abstract class VerustreamError extends Error {
  readonly code: string;
  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
    this.code = code;
  }
}

/** The same call may succeed later: the caller waits and tries again. */
export class RetryableError extends VerustreamError {}

/** Retrying does not help: a person must act first. The message says how. */
export class PermanentError extends VerustreamError {}

/** What was asked for is wrong in itself. The message says in one line what is allowed; the program ends with exit code 2. */
export class UsageError extends PermanentError {
  constructor(message: string) {
    super('usage', message);
  }
}
