/** Why a subscription is not taken: the client is told, and everything is as before. */
import { ApiError } from '../http/api-error.ts';

export class SubscriptionRefused extends ApiError {
  readonly reason: string;
  /** `at`: pointer into what was asked, '' for all of it. */
  constructor(reason: string, at: string, message: string) {
    super('invalid_parameter', message, { errors: [{ pointer: at, detail: message }] });
    this.reason = reason;
  }
}

/** A connection has gone beyond what one may have, and is ended. */
export class LimitExceeded extends SubscriptionRefused {
  constructor(message: string, at = '') {
    super('limit_exceeded', at, message);
  }
}
