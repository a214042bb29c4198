/** The daemons of one chain behind JSON-RPC: reuses repeatable answers and bounds concurrent calls. */

import type { BlockRef } from '../../../domain/block-ref.ts';
import { daemonPrint } from '../../../domain/json/raw-json.ts';
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
    const { load } = method;
    const { signal } = limits;
    const deadline = performance.now() + load.timeoutMs;
    const left = () => Math.max(1, Math.ceil(deadline - performance.now()));
    // A broadcast has happened, whoever still waits for its short reply.
    const sent = method.broadcasts ? {} : limits;
    const send = () => proxyCall(daemon, request, method, { ...sent, timeoutMs: left() });
    const call = () => chainLanes.run(asker, left(), send, signal);
    const asked = load.atOnce === Number.POSITIVE_INFINITY ? call() : lanesOf(load).run(asker, left(), call, signal);
    return asked.catch((error: unknown) => {
      throw error instanceof QueueFull || error instanceof AnswerGivenUp ? internalError(error) : error;
    });
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
