/** The daemons of one chain behind JSON-RPC: reuses repeatable answers and bounds concurrent calls. */

import type { BlockRef } from '../../../domain/block-ref.ts';
import { daemonPrint } from '../../../domain/json/raw-json.ts';
import type { VerusdClient } from '../../../infra/verusd/verusd-client.ts';
import type { RpcRequest } from '../../../schemas/verusd/rpc-envelope.ts';
import { createPriorityLanes, type PriorityLanes, QueueFull, type WorkOwner } from '../../access/priority-lanes.ts';
import { memoize } from '../../state/memoize.ts';
import type { DaemonMethod, Load } from '../methods/rpc-method.ts';
import { queueFull } from '../rpc-error.ts';
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
  kept(request: RpcRequest, method: DaemonMethod, owner: WorkOwner): DaemonReply | null;
  /** The same, and asks where nothing is kept. Throws RpcError -32603 when no daemon answers or too many calls wait. */
  ask(request: RpcRequest, method: DaemonMethod, owner: WorkOwner): Promise<DaemonReply>;
}

const CACHE_BYTES = 64 * 1024 * 1024;
/** Longer ones are rarely asked twice, and keys are memory, too. */
const MAX_KEY = 4096;
const MEMOIZED = 10_000;

export function createUpstream({ daemon, lanes: chainLanes, tip, finalityDepth }: UpstreamOptions): Upstream {
  const answers = createRepeatedAnswers({ tip, finalityDepth, maxBytes: CACHE_BYTES });
  const loadLanes = new Map<Load, PriorityLanes>();
  const printed = memoize(daemonPrint, MEMOIZED);

  function lanesOf(load: Load): PriorityLanes {
    const lanes =
      loadLanes.get(load) ?? createPriorityLanes({ atOnce: load.atOnce, mostWaiting: load.waiting, leavesRoom: false });
    loadLanes.set(load, lanes);
    return lanes;
  }

  /** The time in the queue counts: callers get an answer within the method's time limit. */
  function askDaemon(request: RpcRequest, method: DaemonMethod, owner: WorkOwner): Promise<DaemonReply> {
    const { load } = method;
    const deadline = performance.now() + load.timeoutMs;
    const left = () => Math.max(1, Math.ceil(deadline - performance.now()));
    const call = () => chainLanes.run(owner, left(), () => proxyCall(daemon, request, method, left()));
    const asked = load.atOnce === Number.POSITIVE_INFINITY ? call() : lanesOf(load).run(owner, left(), call);
    return asked.catch((error: unknown) => {
      throw error instanceof QueueFull ? queueFull(error) : error;
    });
  }

  const lifetimeOf = ({ texts, params }: RpcRequest, { repeatable }: DaemonMethod) =>
    params.length > MAX_KEY ? null : (repeatable?.lifetime(texts) ?? null);

  // Keyed by lane, so that a priority call does not join one that is queued in the other lane.
  const keyOf = ({ method, params }: RpcRequest, { lane }: WorkOwner) => `${lane} ${method} ${printed(params)}`;

  return {
    kept(request, method, owner) {
      const lifetime = lifetimeOf(request, method);
      return lifetime === null ? null : answers.kept(keyOf(request, owner), lifetime, request.id);
    },
    async ask(request, method, owner) {
      const lifetime = lifetimeOf(request, method);
      const ask = () => askDaemon(request, method, owner);
      return lifetime === null ? ask() : answers.get(keyOf(request, owner), lifetime, request.id, ask);
    },
  };
}
