/** A subscription is refused: the client gets the reason, and nothing changes. */
import { ApiError } from '../http/api-error.ts';

export class SubscriptionRefused extends ApiError {
  readonly reason: string;
  /** `at`: JSON pointer into the request, '' for all of it. */
  constructor(reason: string, at: string, message: string) {
    super('invalid_parameter', message, { errors: [{ pointer: at, detail: message }] });
    this.reason = reason;
  }
}

/** A connection has exceeded its limits and is closed. */
export class LimitExceeded extends SubscriptionRefused {
  constructor(message: string, at = '') {
    super('limit_exceeded', at, message);
  }
}
