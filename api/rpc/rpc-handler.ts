/** JSON-RPC of the chains without HTTP: takes a body, returns a status and a body. */

import { hexAddress } from '../../domain/addresses.ts';
import type { BlockRef } from '../../domain/block-ref.ts';
import { daemonString } from '../../domain/json/raw-json.ts';
import type { Logger } from '../../infra/logger.ts';
import type { Postgres } from '../../infra/postgres/postgres.ts';
import { readRow } from '../../infra/postgres/read-rows.ts';
import { storedColumns } from '../../infra/postgres/stored-columns.ts';
import { rowReader } from '../../infra/row-reader.ts';
import type { VerusdClient } from '../../infra/verusd/verusd-client.ts';
import type { ChainConfig } from '../../schemas/config.ts';
import { DEFINITIONS } from '../../schemas/facts.ts';
import { readRpcBody } from '../../schemas/verusd/rpc-body.ts';
import {
  printRpcError,
  printRpcResult,
  RPC_CODES,
  type RpcBody,
  type RpcRefusal,
  type RpcRequest,
  rpcStatus,
} from '../../schemas/verusd/rpc-envelope.ts';
import type { AnswerMemory, Asker } from '../access/answer-memory.ts';
import { createDaemonLanes } from '../access/lane-daemons.ts';
import { type PriorityLanes, SERVICE } from '../access/priority-lanes.ts';
import { hasCost } from '../http/failure-cost.ts';
import { isCatchingUp } from '../state/index-lag.ts';
import { DEADLY_CALLS } from './deadly-calls.ts';
import { filenameGuard, type GuardedChain } from './guards.ts';
import { helpOf } from './help.ts';
import { type AnswerMethod, createIndexMethods } from './index-methods.ts';
import { daemonForm, formOfIndexed, rpcMethod } from './methods/method-table.ts';
import type { DaemonMethod } from './methods/rpc-method.ts';
import { checkParameters } from './parameters/check-parameters.ts';
import { internalError, methodNotFound, RpcError } from './rpc-error.ts';
import { createUnspentOutput, type UnspentOutput } from './upstream/unspent-output.ts';
import { createUpstream, type Upstream } from './upstream/upstream.ts';
import { type Wallets, walletGuard } from './wallet-guard.ts';

export const MAX_BATCH = 5;

/** A JSON body with its final newline. */
export interface RpcAnswer {
  readonly status: number;
  readonly body: Uint8Array | string;
  /** Bytes after the body. */
  readonly end?: string | undefined;
  /** Whether nothing was answered, and neither the caller nor an answer of the daemon is the reason. */
  readonly ourFault: boolean;
}

export interface RpcHandlerOptions {
  readonly chains: readonly Pick<
    ChainConfig,
    'name' | 'rootCurrency' | 'networkRoot' | 'finalityDepth' | 'blockSeconds' | 'requireEmptyWallet'
  >[];
  /** By chain name. */
  readonly daemons: ReadonlyMap<string, Pick<VerusdClient, 'forward' | 'call'>>;
  /** Lanes of each chain's daemons; new ones by default. */
  readonly lanes?: ReadonlyMap<string, PriorityLanes>;
  /** Wallets of each chain's daemons; a chain without an entry is not watched. */
  readonly wallets?: ReadonlyMap<string, Wallets>;
  readonly postgres: Postgres;
  /** Newest block of a chain's index; null while there is none. */
  readonly tip: (chain: string) => BlockRef | null;
  /** Last known height of a chain's daemon; null while it is unknown, as by default. */
  readonly daemonHeight?: (chain: string) => number | null;
  /** Resolves `alice@` or the chain's root currency to an i-address; returns null for a text that cannot be a name. */
  readonly nameToAddress: (name: string, networkRoot: string) => string | null;
  /** Extension methods by name; a method of the table that is missing here answers -32601. */
  readonly extensions?: Readonly<Record<string, AnswerMethod>>;
  readonly logger: Logger;
}

/** `body` is the body of a POST, or the result of readRpcBody. Throws only for a chain that is not configured. */
export type RpcHandler = (chain: string, body: Uint8Array | RpcBody, asker?: Asker) => Promise<RpcAnswer>;

interface Chain extends GuardedChain {
  readonly name: string;
  /** The daemon method that a call uses; undefined when the call is answered here. */
  readonly formOf: (request: RpcRequest) => DaemonMethod | undefined;
  readonly upstream: Upstream;
  readonly checkWallet: (request: RpcRequest) => void | Promise<void>;
  readonly unspentOutput: UnspentOutput;
}

const readStart = rowReader(storedColumns(DEFINITIONS.currency, ['startBlock']));
const START_SQL = `SELECT start_block FROM currencies WHERE chain = $1 AND currency_id = $2
  ORDER BY from_height DESC, tx_index DESC, vout DESC LIMIT 1`;

const failure = ({ code, message }: Pick<RpcError, 'code' | 'message'>, id: string): RpcAnswer => ({
  status: rpcStatus(code),
  body: `${printRpcError(code, message, id)}\n`,
  ourFault: code === RPC_CODES.internalError,
});

const answered = (result: string, id: string): RpcAnswer => ({
  status: 200,
  body: `${printRpcResult(result, id)}\n`,
  ourFault: false,
});

/** Bytes of an answer. */
const bytesOf = ({ body, end = '' }: RpcAnswer): number =>
  (typeof body === 'string' ? Buffer.byteLength(body) : body.byteLength) + Buffer.byteLength(end);

/** Joins answers, without their newlines, to a JSON array in a buffer of the exact size; `bytes` is the sum of their lengths. */
function joinBatch(outcomes: readonly RpcAnswer[], bytes: number): Buffer {
  const batch = Buffer.allocUnsafe(bytes + Math.max(0, outcomes.length - 1) + 3);
  let at = batch.write('[');
  for (const [index, { body, end = '' }] of outcomes.entries()) {
    if (index > 0) at += batch.write(',', at);
    if (typeof body === 'string') at += batch.write(body, at);
    else {
      batch.set(body, at);
      at += body.byteLength;
    }
    at += batch.write(end, at) - 1;
  }
  return batch.subarray(0, at + batch.write(']\n', at));
}

export function createRpcHandler(options: RpcHandlerOptions): RpcHandler {
  const { logger } = options;
  const methods: Readonly<Record<string, AnswerMethod>> = {
    ...options.extensions,
    ...createIndexMethods(options.postgres),
  };
  const chains = new Map(options.chains.map((chain) => [chain.name, openChain(options, chain)]));

  async function answerHere(chain: Chain, request: RpcRequest, asker: Asker): Promise<RpcAnswer> {
    const method = rpcMethod(request.method);
    const answer = methods[request.method];
    if (method === undefined || answer === undefined) throw methodNotFound();
    // Methods of the index check their few parameters themselves and never pass them on, so size and nesting do not matter.
    if (method.source !== 'index') {
      if (request.fault) throw new RpcError(request.fault.code, request.fault.message);
      if (method.types.length > 0) checkParameters(request.texts, method.types);
    }
    return answered(await answer(chain.name, request.texts, asker), request.id);
  }

  /** A cached answer costs only the checks and is returned without an await. */
  async function answerOne(chain: Chain, request: RpcRequest | RpcRefusal, asker: Asker): Promise<RpcAnswer> {
    if (request.kind === 'refusal') return failure(request, request.id);
    try {
      const method = chain.formOf(request);
      if (!method) return await answerHere(chain, request, asker);
      checkEnvelope(chain, request, method);
      const walletAsked = chain.checkWallet(request);
      if (walletAsked) await walletAsked;
      const indexAsked = DEADLY_CALLS[request.method]?.check(request, chain);
      if (indexAsked) await indexAsked;
      checkParameters(request.texts, method.types);
      const help = request.method === 'help' ? helpOf(request.texts) : null;
      if (help !== null) return answered(daemonString(help), request.id);
      for (const guard of method.guards) guard.check(request, chain);
      const { upstream, unspentOutput } = chain;
      const asked = unspentOutput(request, asker);
      const reply = asked
        ? await asked
        : (upstream.kept(request, method, asker) ?? (await upstream.ask(request, method, asker)));
      return { status: reply.status, body: reply.body, end: reply.end, ourFault: false };
    } catch (error) {
      return failed(chain, request, error);
    }
  }

  function failed(chain: Chain, { method, id }: RpcRequest, thrown: unknown): RpcAnswer {
    if (!(thrown instanceof RpcError) && !hasCost(thrown)) {
      logger.error({ err: thrown, chain: chain.name, method }, 'a JSON-RPC method failed');
      return failure(internalError(thrown), id);
    }
    const error = thrown instanceof RpcError ? thrown : internalError(thrown);
    // Parameters are never logged: they may be secrets.
    if (error.cause) logger.debug({ err: error.cause, chain: chain.name, method }, 'no answer');
    const failed = failure(error, id);
    return { ...failed, ourFault: failed.ourFault && !hasCost(error) };
  }

  /** Executes calls one after the other, like the daemon, because a call may rely on the previous one. */
  async function answerBatch(
    chain: Chain,
    requests: readonly (RpcRequest | RpcRefusal)[],
    asker: Asker,
  ): Promise<RpcAnswer> {
    if (requests.length > MAX_BATCH) {
      return failure({ code: RPC_CODES.invalidRequest, message: `batch size exceeds ${MAX_BATCH}` }, 'null');
    }
    const { memory } = asker;
    const outcomes: RpcAnswer[] = [];
    /** Answers of broadcasts by index, kept even if the batch is given up, because a broadcast cannot be undone. They are short. */
    const broadcasts = new Map<number, RpcAnswer>();
    let bytes = 0;
    memory?.signal.addEventListener('abort', () => outcomes.splice(0), { once: true });
    for (const [index, request] of requests.entries()) {
      const outcome = await answerOne(chain, request, asker);
      outcomes.push(outcome);
      if (isBroadcast(request)) broadcasts.set(index, outcome);
      bytes += bytesOf(outcome);
      memory?.keep(bytes);
      if (memory?.isGivenUp) return givenUp(requests, broadcasts, memory);
    }
    memory?.keep(2 * bytes);
    if (memory?.isGivenUp) return givenUp(requests, broadcasts, memory);
    const ourFault = outcomes.length > 0 && outcomes.every((outcome) => outcome.ourFault);
    return { status: 200, body: joinBatch(outcomes, bytes), ourFault };
  }

  return (name, body, asker = SERVICE) => {
    const chain = chains.get(name);
    if (chain === undefined) throw new TypeError(`${name} is not a configured chain`);
    const read = body instanceof Uint8Array ? readRpcBody(body) : body;
    return read.kind === 'batch' ? answerBatch(chain, read.requests, asker) : answerOne(chain, read.request, asker);
  };
}

function isBroadcast(request: RpcRequest | RpcRefusal): boolean {
  const method = request.kind === 'refusal' ? undefined : rpcMethod(request.method);
  return method?.source === 'daemon' && method.broadcasts === true;
}

/** The answer of a batch whose client is gone or that exceeded its memory: only the answers in `kept` are left. */
function givenUp(
  requests: readonly (RpcRequest | RpcRefusal)[],
  kept: ReadonlyMap<number, RpcAnswer>,
  { signal }: AnswerMemory,
): RpcAnswer {
  const outcomes = requests.map(({ id }, index) => kept.get(index) ?? failure(internalError(signal.reason), id));
  const bytes = outcomes.reduce((sum, outcome) => sum + bytesOf(outcome), 0);
  return { status: 200, body: joinBatch(outcomes, bytes), ourFault: false };
}

function openChain(options: RpcHandlerOptions, config: RpcHandlerOptions['chains'][number]): Chain {
  const { daemons, nameToAddress } = options;
  const { name, rootCurrency, networkRoot, finalityDepth, blockSeconds, requireEmptyWallet } = config;
  const daemon = daemons.get(name);
  if (daemon === undefined) throw new TypeError(`chain ${name} has no daemon`);
  const lanes = options.lanes?.get(name) ?? createDaemonLanes();
  const wallets = options.wallets?.get(name);
  const checkWallet = wallets ? walletGuard(wallets, requireEmptyWallet) : () => undefined;
  const upstream = createUpstream({
    daemon,
    lanes,
    tip: () => options.tip(name),
    finalityDepth,
    mayBeSent: checkWallet,
  });
  const nativeId = nameToAddress(rootCurrency, networkRoot);
  const heights = () => [options.tip(name)?.height ?? null, options.daemonHeight?.(name) ?? null] as const;
  const isBehind = () => isCatchingUp(...heights());
  const bestHash = async () => (isBehind() ? undefined : options.tip(name)?.hash) ?? (await bestBlock(daemon));
  return {
    name,
    // While the index is far behind its daemon, its answers would contradict those of the daemon.
    formOf: ({ method, texts }) => daemonForm(method, texts.length) ?? (isBehind() ? formOfIndexed(method) : undefined),
    blockSeconds,
    height() {
      const known = heights().filter((height) => height !== null);
      return known.length > 0 ? Math.max(...known) : Number.POSITIVE_INFINITY;
    },
    checkWallet,
    upstream,
    unspentOutput: createUnspentOutput(upstream, bestHash),
    async startBlock(currency) {
      const id = hexAddress(currency) ?? nameToAddress(currency, networkRoot);
      if (id === null || id === nativeId) return null;
      return (await readRow(options.postgres.pool, readStart, START_SQL, [name, id]))?.start_block ?? null;
    },
  };
}

/** The first checks of a call to a daemon. */
function checkEnvelope(chain: Chain, request: RpcRequest, { servedWhen }: DaemonMethod): void {
  servedWhen?.check(request, chain);
  if (request.fault) throw new RpcError(request.fault.code, request.fault.message);
  filenameGuard.check(request, chain);
}

async function bestBlock(daemon: Pick<VerusdClient, 'call'>): Promise<string> {
  const hash = await daemon.call('getbestblockhash', []).catch((error: unknown) => {
    throw internalError(error);
  });
  if (typeof hash !== 'string') throw internalError(new TypeError('getbestblockhash is no text'));
  return hash;
}
