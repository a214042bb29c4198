/** Error types for failures of a connection to Postgres, which the driver distinguishes only by their text. */

/** The connection failed, not the statement. Whether the statement took effect is unknown. */
export class PostgresConnectionError extends Error {}

/** Either side ended the connection before the answer arrived. */
export class ConnectionLostError extends PostgresConnectionError {
  override readonly name = 'ConnectionLostError';
}

/** No connection could be made, or no connection of the pool became free, in time. */
export class ConnectTimeoutError extends PostgresConnectionError {
  override readonly name = 'ConnectTimeoutError';
  constructor(limitMs: number) {
    super(`no connection within ${limitMs / 1000} s`);
  }
}

/** The server does not answer: it should have cancelled the statement by its own, shorter time limit. */
export class QueryTimeoutError extends PostgresConnectionError {
  override readonly name = 'QueryTimeoutError';
  constructor(limitMs: number) {
    super(`no answer to a statement within ${limitMs / 1000} s`);
  }
}
