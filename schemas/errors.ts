/** Two base classes indicate by type whether a retry helps; every error carries a stable code that docs/errors.md explains. */

export abstract class VerustreamError extends Error {
  readonly code: string;
  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
    this.code = code;
  }
}

/** Returns the message of any thrown value. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.message || error.name;
}

/** Returns code and message of any thrown value, for statuses and log lines. */
export function describeError(error: unknown): { readonly code: string; readonly message: string } {
  return { code: error instanceof VerustreamError ? error.code : 'internal_error', message: messageOf(error) };
}

/** The same call may succeed later: the caller waits and tries again. */
export class RetryableError extends VerustreamError {}

/** Retrying does not help: a person must act first. The message explains how. */
export class PermanentError extends VerustreamError {}

/** The request itself is wrong. The message states in one line what is allowed; the program exits with code 2. */
export class UsageError extends PermanentError {
  constructor(message: string) {
    super('usage', message);
  }
}
