/** JSON-RPC client of one daemon: keep-alive, bounded connections, typed errors, results as the daemon wrote them. */
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
  /** Calls at the same time; more wait. The daemon queues 16 by default and refuses the rest. */
  readonly connections?: number;
  /** Time limit of a call that names none. */
  readonly timeoutMs?: number;
}

export interface CallOptions {
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /**
   * A daemon works on at a call whose connection has ended. With this, a call that was sent does not end with the signal: when its reply
   * begins, and while it comes, it is asked whether the call goes on.
   */
  readonly isWanted?: (() => boolean) | undefined;
  /**
   * Daemons work long at such calls: after this time their caller no longer waits, but one that is up goes on until `timeoutMs`. That it is
   * late says nothing against it, and no other is to work at the same.
   */
  readonly lateMs?: number;
  /** A longer reply is given up with DaemonReplyTooLarge; 500 MB where none is named. */
  readonly maxBytes?: number;
  /** Hears at each change how many bytes the reply holds, and 0 when the call fails. */
  readonly holds?: ((bytes: number) => void) | undefined;
}

export interface ForwardOptions extends CallOptions {
  /** Label of the metric: a known method's name, never what a stranger sent. */
  readonly label: string;
  /** Must not be tried on a second daemon: it may have happened although no reply came. */
  readonly once?: boolean;
}

export interface RawResult {
  /** The result member, byte for byte. */
  readonly bytes: Uint8Array;
  /** The same read by JSON.parse: numbers may have lost digits, so no amounts are to be read from it. */
  readonly value: unknown;
}

/**
 * Every method throws a Retryable Daemon… error when no proper reply came, DaemonRpcError when the daemon refused,
 * and the signal's reason when that aborts.
 */
export interface VerusdClient {
  /** Host and port, for messages. */
  readonly address: string;
  /** The result, its numbers exact (parseExact). */
  call(method: string, params: readonly unknown[], options?: CallOptions): Promise<unknown>;
  /** Text of the result as the daemon sent it. */
  callText(method: string, params: readonly unknown[], options?: CallOptions): Promise<string>;
  /** Bytes of the result as the daemon sent them. */
  callRaw(method: string, params: readonly unknown[], options?: CallOptions): Promise<RawResult>;
  /**
   * Several calls of one method in one request; null where the daemon refused one. The value of each result has only these `members`, and
   * what they hold is left out where it is an array or an object. Replies of more than 16 MiB are given up.
   */
  callRawBatch(
    method: string,
    params: readonly (readonly unknown[])[],
    members: readonly string[],
    options?: CallOptions,
  ): Promise<readonly (RawResult | null)[]>;
  /** Sends a ready JSON-RPC call; resolves with the daemon's whole answer, RPC errors included. What is no answer throws. */
  forward(body: string | Uint8Array, options: ForwardOptions): Promise<HttpReply>;
  /** Ends all connections; calls under way fail. */
  close(): Promise<void>;
}

const DEFAULT_CONNECTIONS = 8;
const DEFAULT_TIMEOUT_MS = 30_000;
/** The largest that randomInt gives. */
const MAX_ID = 2 ** 48 - 1;
const CONNECT_TIMEOUT_MS = 10_000;
/** Above it a reply could not become one string. */
const MAX_REPLY_BYTES = 500_000_000;
/** A batch is for small answers. */
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

  /** The call's result, parsed by `read`, which throws if it is not JSON. */
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
      // The author of a block cannot foresee them, so what follows one of them is the end of a reply.
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
    maxResponseSize: MAX_REPLY_BYTES,
    connect: { timeout: CONNECT_TIMEOUT_MS },
    // The limit of each call holds instead.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
}

/** Bytes of a reply's result, or the error that it carries. */
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

/** Wrong arguments are answered with the whole help text. */
function firstLine(text: string): string {
  return (text.split('\n', 1)[0] ?? '').slice(0, 200);
}
