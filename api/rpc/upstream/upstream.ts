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
import type { DaemonMethod, Load } from '../methods/rpc-method.ts';
import { internalError, RpcError } from '../rpc-error.ts';
import { type DaemonReply, proxyCall } from './proxy.ts';
import { createRepeatedAnswers } from './repeated-answers.ts';

export interface UpstreamOptions {
  readonly daemon: Pick<VerusdClient, 'forward'>;
  /** Lanes of the chain's daemons, shared with all other callers of them. */
  readonly lanes: PriorityLanes;
  readonly tip: () => BlockRef | null;
  readonly finalityDepth: number;
}

export interface Upstream {
  /** Null: a daemon has to be asked. */
  kept(request: RpcRequest, method: DaemonMethod, asker: Asker): DaemonReply | null;
  /** The same, and asks where nothing is kept. Throws RpcError -32603 when no daemon answers, too many calls wait, or the answer is too large. */
  ask(request: RpcRequest, method: DaemonMethod, asker: Asker): Promise<DaemonReply>;
}

const CACHE_BYTES = 64 * 1024 * 1024;
type Limits = Pick<CallOptions, 'holds' | 'signal' | 'isWanted'>;

/** Time limits for which a heavy or slow call keeps its places, where its reply never begins. docs/decisions/0139-late-calls-keep-their-places.md */
const MOST_LIMITS = 3;

/** Longer ones are rarely asked twice, and keys are memory, too. */
const MAX_KEY = 4096;
const MEMOIZED = 10_000;

export function createUpstream({ daemon, lanes: chainLanes, tip, finalityDepth }: UpstreamOptions): Upstream {
  const answers = createRepeatedAnswers({ tip, finalityDepth, maxBytes: CACHE_BYTES });
  const sharedCalls = createSharedCalls();
  const loadLanes = new Map<Load, PriorityLanes>();
  const printed = memoize(daemonPrint, MEMOIZED);

  function lanesOf(load: Load): PriorityLanes {
    const lanes =
      loadLanes.get(load) ?? createPriorityLanes({ atOnce: load.atOnce, mostWaiting: load.waiting, leavesRoom: false });
    loadLanes.set(load, lanes);
    return lanes;
  }

  /** The time in the queue counts: callers get an answer within the method's time limit. */
  function askDaemon(request: RpcRequest, method: DaemonMethod, asker: Asker, limits: Limits): Promise<DaemonReply> {
    const isLight = method.load.atOnce === Number.POSITIVE_INFINITY;
    const asked = isLight ? askLight(request, method, asker, limits) : askLong(request, method, asker, limits);
    return asked.catch((error: unknown) => {
      throw isInternal(error) ? internalError(error) : error;
    });
  }

  function askLight(request: RpcRequest, method: DaemonMethod, asker: Asker, limits: Limits): Promise<DaemonReply> {
    const deadline = performance.now() + method.load.timeoutMs;
    const left = () => Math.max(1, Math.ceil(deadline - performance.now()));
    // A broadcast has happened, whoever still waits for its short reply.
    const sent = method.broadcasts ? {} : limits;
    const send = () => proxyCall(daemon, request, method, { ...sent, timeoutMs: left() });
    return chainLanes.run(asker, left(), send, limits.signal);
  }

  /** A call that is late has been answered, but keeps its places while the daemon is at it: the daemon works on. Half of the limit is for its work. */
  function askLong(request: RpcRequest, method: DaemonMethod, asker: Asker, limits: Limits): Promise<DaemonReply> {
    const { load } = method;
    const late = lateAfter(load.timeoutMs, request.method);
    const signal = limits.signal ? AbortSignal.any([limits.signal, late.signal]) : late.signal;
    const latestBegin = performance.now() + load.timeoutMs / 2;
    const waitMs = () => Math.max(1, latestBegin - performance.now());
    const isWanted = () => !late.signal.aborted && (limits.isWanted?.() ?? true);
    const stays = { mayTakeLong: true, timeoutMs: MOST_LIMITS * load.timeoutMs };
    const send = () => proxyCall(daemon, request, method, { ...limits, ...stays, signal, isWanted });
    const call = () => chainLanes.run(asker, waitMs(), send, signal);
    const asked = lanesOf(load).run(asker, waitMs(), call, signal);
    return untilAborted(asked.finally(late.cancel), late.signal);
  }

  const lifetimeOf = ({ texts, params }: RpcRequest, { repeatable }: DaemonMethod) =>
    params.length > MAX_KEY ? null : (repeatable?.lifetime(texts) ?? null);

  // Keyed by lane, so that a priority call does not join one that is queued in the other lane.
  const keyOf = ({ method, params }: RpcRequest, { lane }: Asker) => `${lane} ${method} ${printed(params)}`;

  return {
    kept(request, method, asker) {
      const lifetime = lifetimeOf(request, method);
      return lifetime === null ? null : answers.kept(keyOf(request, asker), lifetime, request.id);
    },
    async ask(request, method, asker) {
      const { memory } = asker;
      const lifetime = lifetimeOf(request, method);
      const ask = (limits: Limits) => askDaemon(request, method, asker, limits);
      const askAlone = () => {
        if (!memory) return ask({});
        const { signal } = memory;
        const asked = ask({ signal, holds: (bytes) => memory.holds(bytes), isWanted: () => !memory.isGivenUp });
        return method.broadcasts ? asked : untilAborted(asked, signal);
      };
      const asInternal = (error: unknown) => {
        throw error instanceof AnswerGivenUp ? internalError(error) : error;
      };
      if (lifetime === null) return askAlone().catch(asInternal);
      const key = keyOf(request, asker);
      const shared = sharedCalls(key, memory, (begin) => answers.get(key, lifetime, request.id, () => ask(begin())));
      return shared.catch((error: unknown) => {
        // All who had asked before are gone, and this caller came before their call had ended.
        const isOfOthers = error instanceof RpcError && error.cause instanceof AnswerGivenUp && !memory?.isGivenUp;
        return isOfOthers ? askAlone().catch(asInternal) : asInternal(error);
      });
    },
  };
}

/** Faults that proxyCall has not seen. */
function isInternal(error: unknown): boolean {
  return [QueueFull, AnswerGivenUp, DaemonTimeout].some((kind) => error instanceof kind);
}

/** A process that stood still for so long finds the reply in its socket, and takes it first. */
function lateAfter(limitMs: number, method: string) {
  const late = new AbortController();
  const abort = () => late.abort(new DaemonTimeout(`${method}: no complete reply within ${limitMs / 1000} s`));
  const timer = setTimeout(() => setImmediate(abort), limitMs);
  return { signal: late.signal, cancel: () => clearTimeout(timer) };
}
