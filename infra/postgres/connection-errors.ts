/** Types for the faults of a connection to Postgres, which the driver distinguishes only by their text. */

/** The connection, not the statement, is what failed. Whether the statement took effect is unknown. */
export class PostgresConnectionError extends Error {}

/** The connection ended, from whichever side, before the answer came. */
export class ConnectionLostError extends PostgresConnectionError {
  override readonly name = 'ConnectionLostError';
}

/** No connection was made, or none of the pool became free, in time. */
export class ConnectTimeoutError extends PostgresConnectionError {
  override readonly name = 'ConnectTimeoutError';
  constructor(limitMs: number) {
    super(`no connection within ${limitMs / 1000} s`);
  }
}

/** The server is silent: its own time limit of a statement is shorter. */
export class QueryTimeoutError extends PostgresConnectionError {
  override readonly name = 'QueryTimeoutError';
  constructor(limitMs: number) {
    super(`no answer to a statement within ${limitMs / 1000} s`);
  }
}
