/** JSON-RPC client of one daemon: keep-alive, bounded connections, typed errors, results as the daemon sent them. */
import { randomInt } from 'node:crypto';
import { Pool } from 'undici';
import { parseExact } from '../../domain/json/exact-json.ts';
import { VerustreamError } from '../../schemas/errors.ts';
import { RPC_CODES } from '../../schemas/verusd/rpc-envelope.ts';
import type { Logger } from '../logger.ts';
import { metrics } from '../metrics.ts';
import { createBatchReader, type ReadBatch } from './batch-reader.ts';
import type { FoundResult } from './batch-reply.ts';
import { parseDaemonAddress } from './daemon-address.ts';
import { DaemonAuthFailed, DaemonGarbage, DaemonHttpError, DaemonRpcError, DaemonWarmingUp } from './daemon-errors.ts';
import { type HttpReply, post } from './http-post.ts';
import { isWholeAnswer, readReply } from './rpc-reply.ts';

export interface VerusdClientOptions {
  /** http://user:password@host:port */
  readonly rpc: string;
  /** Short name of the chain, for metrics and logs. */
  readonly chain: string;
  readonly logger: Logger;
  /** Maximum number of concurrent calls; further calls wait. The daemon queues 16 by default and refuses the rest. */
  readonly connections?: number;
  /** Default time limit of a call. */
  readonly timeoutMs?: number;
}

export interface CallOptions {
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /**
   * A daemon keeps working on a call whose connection has ended. With this function, a call that was sent therefore does not end with the
   * signal: when its reply begins, and while it arrives, the function decides whether the call continues.
   */
  readonly isWanted?: (() => boolean) | undefined;
  /**
   * For long-running calls: after this time the caller no longer waits, but the call continues until `timeoutMs` on a daemon that is up.
   * Being late does not count as a failure of the daemon, and the call is not sent to another one.
   */
  readonly lateMs?: number;
  /** A longer reply fails with DaemonReplyTooLarge; 500 MB by default. */
  readonly maxBytes?: number;
  /** Called at each change with the bytes that the reply holds in memory, and with 0 when the call fails. */
  readonly holds?: ((bytes: number) => void) | undefined;
}

export interface ForwardOptions extends CallOptions {
  /** Label of the metric: the name of a known method, never text that a client sent. */
  readonly label: string;
  /** Do not try a second daemon: the call may have taken effect although no reply arrived. */
  readonly once?: boolean;
}

export interface RawResult {
  /** The result member as the daemon sent it, byte for byte. */
  readonly bytes: Uint8Array;
  /** The result parsed by JSON.parse. Numbers may have lost digits, so never read amounts from it. */
  readonly value: unknown;
}

/**
 * Every method throws a retryable Daemon… error if no valid reply arrived, DaemonRpcError if the daemon refused the call,
 * and the signal's reason if the signal aborts.
 */
export interface VerusdClient {
  /** Host and port, for messages. */
  readonly address: string;
  /** Returns the result with exact numbers (parseExact). */
  call(method: string, params: readonly unknown[], options?: CallOptions): Promise<unknown>;
  /** Returns the text of the result as the daemon sent it. */
  callText(method: string, params: readonly unknown[], options?: CallOptions): Promise<string>;
  /** Returns the bytes of the result as the daemon sent them. */
  callRaw(method: string, params: readonly unknown[], options?: CallOptions): Promise<RawResult>;
  /**
   * Sends several calls of one method in one request; the result has null for a call that the daemon refused. Each value has only these
   * `members`, of which arrays and objects are emptied. A reply of more than 16 MiB fails with DaemonReplyTooLarge.
   */
  callRawBatch(
    method: string,
    params: readonly (readonly unknown[])[],
    members: readonly string[],
    options?: CallOptions,
  ): Promise<readonly (RawResult | null)[]>;
  /** Sends a complete JSON-RPC call and resolves with the daemon's whole answer, including RPC errors. Throws if the reply is not an answer. */
  forward(body: string | Uint8Array, options: ForwardOptions): Promise<HttpReply>;
  /** Closes all connections; pending calls fail. */
  close(): Promise<void>;
}

const DEFAULT_CONNECTIONS = 8;
const DEFAULT_TIMEOUT_MS = 30_000;
/** The largest range that randomInt accepts. */
const MAX_ID = 2 ** 48 - 1;
const CONNECT_TIMEOUT_MS = 10_000;
/** A longer reply could not be converted to one string. */
const MAX_REPLY_BYTES = 500_000_000;
/** Batches are for small answers. */
const MAX_BATCH_BYTES = 16 << 20;

/** @throws DaemonAddressInvalid */
export function createVerusdClient(options: VerusdClientOptions): VerusdClient {
  const {
    chain,
    logger,
    connections = DEFAULT_CONNECTIONS,
    timeoutMs: defaultTimeoutMs = DEFAULT_TIMEOUT_MS,
  } = options;
  const { origin, authorization } = parseDaemonAddress(options.rpc);
  const address = new URL(origin).host;
  const headers = { 'content-type': 'application/json', ...(authorization ? { authorization } : {}) };
  const pool = openPool(origin, connections);
  const batches = createBatchReader();
  let lastId = 0;

  async function forward(body: string | Uint8Array, { label, ...limits }: ForwardOptions): Promise<HttpReply> {
    const what = `${label} of ${address}`;
    return observed(label, async () => {
      const reply = await send(body, what, limits);
      if (isWholeAnswer(reply.body)) return reply;
      throw new DaemonHttpError(reply.status, `${what}: HTTP ${reply.status} without a JSON-RPC answer`);
    });
  }

  async function send(
    body: string | Uint8Array,
    what: string,
    { timeoutMs = defaultTimeoutMs, maxBytes = MAX_REPLY_BYTES, signal, isWanted, holds }: CallOptions,
  ): Promise<HttpReply> {
    const reply = await post(pool, { headers, body, timeoutMs, signal, isWanted, what, maxBytes, holds });
    if (reply.status === 401 || reply.status === 403) {
      throw new DaemonAuthFailed(
        `${what}: refused with HTTP ${reply.status}. Check rpcuser, rpcpassword and rpcallowip of the daemon against the configured address.`,
      );
    }
    return reply;
  }

  /** Returns the result of the call, parsed by `read`, which must throw if the result is not JSON. */
  async function request<T>(
    method: string,
    params: readonly unknown[],
    limits: CallOptions,
    read: (result: Buffer) => T,
  ): Promise<T> {
    return observed(method, async () => {
      lastId += 1;
      const id = lastId;
      const what = `${method} of ${address}`;
      const body = JSON.stringify({ jsonrpc: '1.0', id, method, params });
      const reply = await send(body, what, limits);
      const result = resultOf(reply, id, what);
      try {
        return read(result);
      } catch (error) {
        throw new DaemonGarbage(`${what}: the result is not JSON`, { cause: error });
      }
    });
  }

  async function callRawBatch(
    method: string,
    params: readonly (readonly unknown[])[],
    members: readonly string[],
    limits: CallOptions = {},
  ): Promise<readonly (RawResult | null)[]> {
    return observed(`${method} batch`, async () => {
      // Random ids, which the author of a block cannot predict: each id therefore marks the end of a reply.
      const ids = params.map(() => randomInt(MAX_ID));
      const what = `${params.length} × ${method} of ${address}`;
      const calls = params.map((each, index) => ({ jsonrpc: '1.0', id: ids[index], method, params: each }));
      const reply = await send(JSON.stringify(calls), what, { ...limits, maxBytes: MAX_BATCH_BYTES });
      const batch = await batches.read(reply.body, { ids, members });
      if (batch.garbage !== null) throw new DaemonGarbage(`${what}: HTTP ${reply.status}, ${batch.garbage}`);
      return resultsOf(batch, members);
    });
  }

  async function observed<T>(method: string, work: () => Promise<T>): Promise<T> {
    const started = performance.now();
    let outcome = 'ok';
    try {
      return await work();
    } catch (error) {
      outcome = error instanceof VerustreamError ? error.code : 'failed';
      logger.debug({ chain, method, err: error }, 'daemon call failed');
      throw error;
    } finally {
      metrics.upstreamSeconds.observe({ chain, method, outcome }, (performance.now() - started) / 1000);
    }
  }

  return {
    address,
    forward,
    call: (method, params, callOptions = {}) =>
      request(method, params, callOptions, (result) => parseExact(result.toString('utf8'))),
    callText: (method, params, callOptions = {}) =>
      request(method, params, callOptions, (result) => {
        const text = result.toString('utf8');
        JSON.parse(text);
        return text;
      }),
    callRaw: (method, params, callOptions = {}) =>
      request(method, params, callOptions, (result) => ({ bytes: result, value: JSON.parse(result.toString('utf8')) })),
    callRawBatch,
    async close() {
      await pool.destroy();
      await batches.close();
    },
  };
}

function openPool(origin: string, connections: number): Pool {
  return new Pool(origin, {
    connections,
    pipelining: 1,
    connect: { timeout: CONNECT_TIMEOUT_MS },
    // Disabled, because each call has its own time limit.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
}

/** Returns the bytes of the result, or throws the error that the reply carries. */
function resultOf({ status, body }: HttpReply, id: number, what: string): Buffer {
  const reply = readReply(body, id);
  switch (reply.kind) {
    case 'result':
      return reply.result;
    case 'error': {
      const said = `${what}: error ${reply.code}, ${firstLine(reply.message)}`;
      if (reply.code === RPC_CODES.inWarmUp) throw new DaemonWarmingUp(said);
      throw new DaemonRpcError(reply.code, reply.message, said);
    }
    case 'garbage':
      if (status === 200) throw new DaemonGarbage(`${what}: ${reply.why}`);
      throw new DaemonHttpError(status, `${what}: HTTP ${status} ${firstLine(body.toString('utf8'))}`);
  }
}

function resultsOf({ body, results }: ReadBatch, members: readonly string[]): (RawResult | null)[] {
  const picked = (found: FoundResult) => Object.fromEntries(members.map((name, at) => [name, found.members[at]]));
  return results.map((found) => found && { bytes: body.subarray(found.begin, found.end), value: picked(found) });
}

/** Shortens messages: the daemon answers wrong arguments with its whole help text. */
function firstLine(text: string): string {
  return (text.split('\n', 1)[0] ?? '').slice(0, 200);
}
