/** Errors of calls to a daemon. Messages identify the daemon by host and port and never contain credentials. */
import { PermanentError, RetryableError } from '../../schemas/errors.ts';

/** No reply arrived: connection refused, reset, unknown host, or closed before the reply began. */
export class DaemonUnreachable extends RetryableError {
  constructor(message: string, options?: ErrorOptions) {
    super('daemon_unreachable', message, options);
  }
}

/** The complete reply did not arrive within the time limit of the call. */
export class DaemonTimeout extends RetryableError {
  constructor(message: string, options?: ErrorOptions) {
    super('daemon_timeout', message, options);
  }
}

/** RPC error -28: the daemon has started but is still loading its index. */
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

/** The reply exceeds the caller's limit. Another daemon would send the same reply. */
export class DaemonReplyTooLarge extends DaemonGarbage {}

/** An HTTP status without a JSON-RPC body, such as 500 "Work queue depth exceeded" or 503. */
export class DaemonHttpError extends RetryableError {
  readonly status: number;
  constructor(status: number, message: string, options?: ErrorOptions) {
    super('daemon_http_error', message, options);
    this.status = status;
  }
}

/** 401 or 403: user, password or rpcallowip is wrong. Retryable, because the operator may correct it on the daemon's side. */
export class DaemonAuthFailed extends RetryableError {
  constructor(message: string, options?: ErrorOptions) {
    super('daemon_auth_failed', message, options);
  }
}

/** Every daemon of the chain serves another chain, so the call was not sent. */
export class DaemonForeign extends RetryableError {
  constructor(chain: string) {
    super('daemon_foreign', `the daemon of ${chain} serves another chain`);
  }
}

/** The daemon understood the call and refused it; `rpcCode` and `rpcMessage` are as it sent them. */
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
