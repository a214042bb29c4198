/**
 * The driver's client and pool, with error types for failures of the connection. The driver (pg 8) reports lost connections and its
 * time limits as plain errors, so this client tracks the state of the connection and sets its own timers.
 */
import pg from 'pg';
import { withTimeLimit } from '../time-limit.ts';
import {
  ConnectionLostError,
  ConnectTimeoutError,
  PostgresConnectionError,
  QueryTimeoutError,
} from './connection-errors.ts';
import { destroyIfVanished } from './vanished-peer.ts';

/** In milliseconds; null means no limit. */
export interface Limits {
  readonly connectMs: number | null;
  readonly statementMs: number | null;
  /** After this silence of an awaited answer, the program tests whether the server's machine is still there. */
  readonly silentMs: number | null;
}

/** @throws PostgresConnectionError, or the error of the server or of the operating system with its code */
export function createClient(config: pg.ClientConfig, limits: Limits): pg.Client {
  return new TypedClient(config, limits);
}

/** `limits.connectMs` includes the wait for a free connection. */
export function createPool(config: pg.PoolConfig, limits: Limits): pg.Pool {
  return new TypedPool(config, limits);
}

class TypedClient extends pg.Client {
  readonly #limits: Limits;
  /** Set before any statement rejects: the driver emits `error` at once and rejects statements in a later turn of the event loop. */
  #over = false;
  #connected = false;

  constructor(config: pg.ClientConfig, limits: Limits) {
    super(config);
    this.#limits = limits;
    this.once('end', () => {
      this.#over = true;
    });
  }

  override connect(callback?: unknown): Promise<this> {
    if (typeof callback === 'function') {
      this.#connect((error) => (error === null ? callback(null, this) : callback(error)));
      return Promise.resolve(this);
    }
    return new Promise((resolve, reject) => {
      this.#connect((error) => (error === null ? resolve(this) : reject(error)));
    });
  }

  override end(callback?: (error: Error) => void): Promise<void> {
    this.#over = true;
    if (!callback) return super.end();
    super.end(callback);
    return Promise.resolve();
  }

  override emit(event: string | symbol, ...args: unknown[]): boolean {
    if (event !== 'error' || !this.#connected) return super.emit(event, ...args);
    this.#over = true;
    return super.emit(event, ...args.map((error) => this.#typed(error)));
  }

  /** `never` fits each of the driver's overloads, which declare the types for callers. */
  override query(...args: unknown[]): never {
    const [query] = args;
    if (isSubmittable(query)) return this.#submit(query) as never;
    const callback = args.find((argument) => typeof argument === 'function');
    const { statement, statementMs } = this.#limited(query);
    const send: (...args: unknown[]) => Promise<unknown> = super.query.bind(this);
    const values = args.slice(1).filter((argument) => argument !== callback);
    const answer = send(statement, ...values).catch((error: unknown) => {
      throw this.#typed(error);
    });
    const inTime =
      statementMs === null ? answer : withTimeLimit(answer, statementMs, () => new QueryTimeoutError(statementMs));
    if (!callback) return inTime as never;
    inTime.then(
      (result) => callback(null, result),
      (error: unknown) => callback(error),
    );
    return undefined as never;
  }

  /** A statement's own time limit takes precedence; it is removed so that the driver does not apply it too. */
  #limited(query: unknown): { readonly statement: unknown; readonly statementMs: number | null } {
    if (typeof query !== 'object' || query === null || !('query_timeout' in query)) {
      return { statement: query, statementMs: this.#limits.statementMs };
    }
    const { query_timeout: own, ...statement } = query;
    return { statement, statementMs: typeof own === 'number' ? own : this.#limits.statementMs };
  }

  /** The driver reports failures of a stream, such as a COPY, through `handleError`. */
  #submit(query: pg.Submittable & Failing): pg.Submittable {
    const fail = query.handleError.bind(query);
    query.handleError = (error, connection) => fail(this.#typed(error), connection);
    const send: (query: pg.Submittable) => unknown = super.query.bind(this);
    send(query);
    return query;
  }

  /** Calls `answer` once. On success it does so synchronously: the caller must listen for errors before the server sends more. */
  #connect(answer: (error: unknown) => void): void {
    const { connectMs, silentMs } = this.#limits;
    let answered = false;
    const once = (error: unknown) => {
      clearTimeout(timer);
      if (!answered) answer(error);
      answered = true;
    };
    const late = (limitMs: number) => {
      this.connection.stream.destroy();
      once(new ConnectTimeoutError(limitMs));
    };
    const timer = connectMs === null ? undefined : setTimeout(late, connectMs, connectMs);
    super.connect((error: Error | null) => {
      if (error) return void setImmediate(() => once(this.#typed(error))); // by then the driver has emitted `end` if the connection ended
      this.#connected = true;
      if (silentMs !== null) destroyIfVanished(this.connection.stream, silentMs, () => isAwaited(this));
      once(null);
    });
  }

  /** Turns an error without a code into a `ConnectionLostError` once the connection has ended. */
  #typed(error: unknown): unknown {
    if (!this.#over || !(error instanceof Error) || 'code' in error || error instanceof PostgresConnectionError) {
      return error;
    }
    return new ConnectionLostError(error.message, { cause: error });
  }
}

class TypedPool extends pg.Pool {
  readonly #connectMs: number | null;

  constructor(config: pg.PoolConfig, limits: Limits) {
    class PoolsClient extends TypedClient {
      constructor(options: pg.ClientConfig = {}) {
        super(options, limits);
      }
    }
    // The driver's own timers would reject with plain errors.
    super({ ...config, connectionTimeoutMillis: 0, query_timeout: 0, Client: PoolsClient });
    this.#connectMs = limits.connectMs;
  }

  override connect(callback?: unknown): Promise<pg.PoolClient> {
    const connected = this.#connect();
    if (typeof callback !== 'function') return connected;
    return connected.then(
      (client) => callback(undefined, client, client.release),
      (error: unknown) => callback(error),
    );
  }

  #connect(): Promise<pg.PoolClient> {
    const limitMs = this.#connectMs;
    const connecting = super.connect();
    if (limitMs === null) return connecting;
    return withTimeLimit(connecting, limitMs, () => {
      connecting.then(
        (late) => late.release(),
        () => undefined, // the caller already has its error
      );
      return new ConnectTimeoutError(limitMs);
    });
  }
}

/** Whether the server owes an answer: a field of the driver that its types lack. */
const isAwaited = (client: pg.Client): boolean => 'readyForQuery' in client && client.readyForQuery === false;

interface Failing {
  handleError(error: unknown, connection: unknown): void;
}

function isSubmittable(query: unknown): query is pg.Submittable & Failing {
  return typeof query === 'object' && query !== null && 'submit' in query && 'handleError' in query;
}
