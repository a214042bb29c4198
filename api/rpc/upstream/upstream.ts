/** The daemons of one chain behind JSON-RPC: reuses repeatable answers and bounds concurrent calls. */

import type { BlockRef } from '../../../domain/block-ref.ts';
import { daemonPrint } from '../../../domain/json/raw-json.ts';
import { DaemonTimeout } from '../../../infra/verusd/daemon-errors.ts';
import type { CallOptions, VerusdClient } from '../../../infra/verusd/verusd-client.ts';
import type { RpcRequest } from '../../../schemas/verusd/rpc-envelope.ts';
import { AnswerGivenUp, type Asker } from '../../access/answer-memory.ts';
import { createPriorityLanes, type PriorityLanes, QueueFull } from '../../access/priority-lanes.ts';
import { createSharedCalls } from '../../access/shared-calls.ts';
import { untilAborted } from '../../access/until-aborted.ts';
import { memoize } from '../../state/memoize.ts';
import type { Lifetime } from '../methods/repeatable.ts';
import type { DaemonMethod, Load } from '../methods/rpc-method.ts';
import { internalError, RpcError } from '../rpc-error.ts';
import { type DaemonReply, proxyCall } from './proxy.ts';
import { createRepeatedAnswers } from './repeated-answers.ts';

export interface UpstreamOptions {
  readonly daemon: Pick<VerusdClient, 'forward'>;
  /** Lanes of the chain's daemons, shared with all other users of these daemons. */
  readonly lanes: PriorityLanes;
  readonly tip: () => BlockRef | null;
  readonly finalityDepth: number;
  /** Called right before a call is sent, because a daemon may have been restarted while the call waited. Throws RpcError. */
  readonly mayBeSent: (request: RpcRequest) => void | Promise<void>;
}

export interface Upstream {
  /** Returns a cached answer, or null if a daemon must be called. */
  kept(request: RpcRequest, method: DaemonMethod, asker: Asker): DaemonReply | null;
  /** Returns a cached answer or calls a daemon. Throws RpcError -32603 when no daemon answers, too many calls wait, or the answer is too large. */
  ask(request: RpcRequest, method: DaemonMethod, asker: Asker): Promise<DaemonReply>;
}

const CACHE_BYTES = 64 * 1024 * 1024;
type Limits = Pick<CallOptions, 'holds' | 'signal' | 'isWanted'>;

/** A heavy or slow call without a reply keeps its places for this many time limits. docs/decisions/0139-late-calls-keep-their-places.md */
const MOST_LIMITS = 3;

/** Calls with longer parameters are not cached: they are rarely repeated, and keys take memory too. */
const MAX_KEY = 4096;
const MEMOIZED = 10_000;

/** A call with the time of its arrival. */
interface Call {
  readonly request: RpcRequest;
  readonly method: DaemonMethod;
  readonly asker: Asker;
  /** Start of the method's time limit: waiting in a queue or for another caller's call counts too. */
  readonly arrived: number;
}

type Ask = (limits: Limits) => Promise<DaemonReply>;

function createDaemonCalls({
  daemon,
  lanes: chainLanes,
  mayBeSent,
}: Pick<UpstreamOptions, 'daemon' | 'lanes' | 'mayBeSent'>) {
  const loadLanes = new Map<Load, PriorityLanes>();

  function lanesOf(load: Load): PriorityLanes {
    const lanes =
      loadLanes.get(load) ?? createPriorityLanes({ atOnce: load.atOnce, mostWaiting: load.waiting, leavesRoom: false });
    loadLanes.set(load, lanes);
    return lanes;
  }

  /** Sends a call that has its places. */
  async function checkAndSend({ request, method }: Call, limitsNow: () => CallOptions): Promise<DaemonReply> {
    const checked = mayBeSent(request);
    if (checked) await checked;
    return proxyCall(daemon, request, method, limitsNow());
  }

  function askLight(asked: Call, limits: Limits): Promise<DaemonReply> {
    const { method, asker } = asked;
    const left = () => Math.max(1, Math.ceil(endOf(asked) - performance.now()));
    // Abort signals do not apply to a broadcast: once sent it has happened, and its reply is short.
    const sent = method.broadcasts ? {} : limits;
    const send = () => checkAndSend(asked, () => ({ ...sent, timeoutMs: left() }));
    return chainLanes.run(asker, left(), send, limits.signal);
  }

  /** The caller of a late call gets an error, but the call keeps its places because the daemon continues to work on it. */
  function askLong(asked: Call, limits: Limits): Promise<DaemonReply> {
    const { asker } = asked;
    const { load } = asked.method;
    const late = lateAfter(asked);
    const signal = limits.signal ? AbortSignal.any([limits.signal, late.signal]) : late.signal;
    const waitMs = () => Math.max(1, latestBegin(asked) - performance.now());
    const isWanted = () => !late.signal.aborted && (limits.isWanted?.() ?? true);
    const limitsNow = (): CallOptions => {
      const lateMs = Math.max(1, endOf(asked) - performance.now());
      const timeoutMs = MOST_LIMITS * load.timeoutMs;
      return { ...limits, lateMs, timeoutMs, signal, isWanted };
    };
    const send = () => checkAndSend(asked, limitsNow);
    const call = () => chainLanes.run(asker, waitMs(), send, signal);
    const answered = lanesOf(load).run(asker, waitMs(), call, signal);
    return untilAborted(answered.finally(late.cancel), late.signal);
  }

  return async function askDaemon(asked: Call, limits: Limits): Promise<DaemonReply> {
    try {
      if (performance.now() >= latestBegin(asked)) throw new QueueFull();
      return await (isLight(asked.method) ? askLight : askLong)(asked, limits);
    } catch (error) {
      throw isInternal(error) ? internalError(error) : error;
    }
  };
}

export function createUpstream({ daemon, lanes, tip, finalityDepth, mayBeSent }: UpstreamOptions): Upstream {
  const answers = createRepeatedAnswers({ tip, finalityDepth, maxBytes: CACHE_BYTES });
  const sharedCalls = createSharedCalls();
  const askDaemon = createDaemonCalls({ daemon, lanes, mayBeSent });
  const printed = memoize(daemonPrint, MEMOIZED);

  const lifetimeOf = ({ texts, params }: RpcRequest, { repeatable }: DaemonMethod) =>
    params.length > MAX_KEY ? null : (repeatable?.lifetime(texts) ?? null);

  // Keyed by lane, so that a priority call does not join one that is queued in the other lane.
  const keyOf = ({ method, params }: RpcRequest, { lane }: Asker) => `${lane} ${method} ${printed(params)}`;

  async function askShared({ request, asker }: Call, lifetime: Lifetime, ask: Ask): Promise<DaemonReply> {
    const key = keyOf(request, asker);
    for (let isOwn = false; ; ) {
      const work = (begin: () => Limits) =>
        answers.get(key, lifetime, request.id, () => {
          isOwn = true;
          return ask(begin());
        });
      try {
        return await sharedCalls(key, asker.memory, work);
      } catch (error) {
        // The call was refused for its own caller's queue places or time, which does not concern callers of other payers.
        const full = error instanceof RpcError && error.cause instanceof QueueFull ? error.cause : null;
        if (isOwn || !full || full.payer === asker.payer) throw error;
      }
    }
  }

  return {
    kept(request, method, asker) {
      const lifetime = lifetimeOf(request, method);
      return lifetime === null ? null : answers.kept(keyOf(request, asker), lifetime, request.id);
    },
    async ask(request, method, asker) {
      const call: Call = { request, method, asker, arrived: performance.now() };
      const { memory } = asker;
      const lifetime = lifetimeOf(request, method);
      const ask: Ask = (limits) => askDaemon(call, limits);
      const askAlone = () => {
        if (!memory) return ask({});
        const { signal } = memory;
        const asked = ask({ signal, holds: (bytes) => memory.holds(bytes), isWanted: () => !memory.isGivenUp });
        return method.broadcasts ? asked : untilAborted(asked, signal);
      };
      const asInternal = (error: unknown) => {
        throw isInternal(error) ? internalError(error) : error;
      };
      if (lifetime === null) return askAlone().catch(asInternal);
      const asked = askShared(call, lifetime, ask).catch((error: unknown) => {
        // The callers that started the shared call are gone, and this caller joined it before it ended.
        const isOfOthers = error instanceof RpcError && error.cause instanceof AnswerGivenUp && !memory?.isGivenUp;
        return isOfOthers ? askAlone() : Promise.reject(error);
      });
      return inTime(call, asked).catch(asInternal);
    },
  };
}

const isLight = ({ load }: DaemonMethod) => load.atOnce === Number.POSITIVE_INFINITY;

const endOf = ({ method, arrived }: Call) => arrived + method.load.timeoutMs;

/** Latest time to send a call: half of the limit of a heavy or slow call is reserved for its work. */
const latestBegin = (call: Call) =>
  isLight(call.method) ? endOf(call) : call.arrived + call.method.load.timeoutMs / 2;

/** Applies the caller's own time limit to a call that it may share with another caller. */
function inTime<T>(call: Call, asked: Promise<T>): Promise<T> {
  if (isLight(call.method)) return asked;
  const late = lateAfter(call);
  return untilAborted(asked.finally(late.cancel), late.signal);
}

/** Errors that do not pass through proxyCall. */
function isInternal(error: unknown): boolean {
  return [QueueFull, AnswerGivenUp, DaemonTimeout].some((kind) => error instanceof kind);
}

/** Aborts at the end of the time limit. After the process was suspended, setImmediate lets it read a reply in the socket first. */
function lateAfter(call: Call) {
  const { request, method } = call;
  const late = new AbortController();
  const limit = `${method.load.timeoutMs / 1000} s`;
  const abort = () => late.abort(new DaemonTimeout(`${request.method}: no complete reply within ${limit}`));
  const timer = setTimeout(() => setImmediate(abort), endOf(call) - performance.now());
  return { signal: late.signal, cancel: () => clearTimeout(timer) };
}
