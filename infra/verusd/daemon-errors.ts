/** Faults between verustream and a daemon. Messages name the daemon by host and port, never by credentials. */
import { PermanentError, RetryableError } from '../../schemas/errors.ts';

/** No reply came: refused, reset, unknown host, closed before the reply began. */
export class DaemonUnreachable extends RetryableError {
  constructor(message: string, options?: ErrorOptions) {
    super('daemon_unreachable', message, options);
  }
}

/** The reply did not arrive whole within the time limit of the call. */
export class DaemonTimeout extends RetryableError {
  constructor(message: string, options?: ErrorOptions) {
    super('daemon_timeout', message, options);
  }
}

/** -28: the daemon has started but still loads its index. */
export class DaemonWarmingUp extends RetryableError {
  constructor(message: string, options?: ErrorOptions) {
    super('daemon_warming_up', message, options);
  }
}

/** The reply is truncated, is not JSON, or answers a different call. */
export class DaemonGarbage extends RetryableError {
  constructor(message: string, options?: ErrorOptions) {
    super('daemon_garbage', message, options);
  }
}

/** The reply is longer than whoever asked takes; no other daemon has a shorter one. */
export class DaemonReplyTooLarge extends DaemonGarbage {}

/** An HTTP status without a JSON-RPC body, such as 500 "Work queue depth exceeded" or 503. */
export class DaemonHttpError extends RetryableError {
  readonly status: number;
  constructor(status: number, message: string, options?: ErrorOptions) {
    super('daemon_http_error', message, options);
    this.status = status;
  }
}

/** 401 or 403: user, password or rpcallowip are wrong. Retryable since an operator may set it right on the daemon's side. */
export class DaemonAuthFailed extends RetryableError {
  constructor(message: string, options?: ErrorOptions) {
    super('daemon_auth_failed', message, options);
  }
}

/** The daemon understood the call and refused it; `rpcCode` and `rpcMessage` are its own words. */
export class DaemonRpcError extends PermanentError {
  readonly rpcCode: number;
  readonly rpcMessage: string;
  constructor(rpcCode: number, rpcMessage: string, message: string, options?: ErrorOptions) {
    super('daemon_rpc_error', message, options);
    this.rpcCode = rpcCode;
    this.rpcMessage = rpcMessage;
  }
}

/** The address of a daemon in the configuration cannot be used. */
export class DaemonAddressInvalid extends PermanentError {
  constructor(message: string) {
    super('daemon_address_invalid', message);
  }
}
