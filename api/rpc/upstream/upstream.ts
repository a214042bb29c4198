/** The daemons of one chain as JSON-RPC sees them: what may repeat is repeated, and no more is asked than they bear. */
import type { VerusdClient } from '../../../infra/verusd/verusd-client.ts';
import { daemonPrint } from '../../../schemas/raw-json.ts';
import type { RpcRequest } from '../../../schemas/verusd/rpc-envelope.ts';
import type { DaemonMethod, Load } from '../methods/rpc-method.ts';
import { createGate, type Gate } from './gate.ts';
import { type DaemonReply, proxyCall } from './proxy.ts';
import { createRepeatedAnswers, type Tip } from './repeated-answers.ts';

export interface UpstreamOptions {
  readonly daemon: Pick<VerusdClient, 'forward'>;
  readonly tip: () => Tip | null;
  readonly finalityDepth: number;
}

/** Throws RpcError -32603 when no daemon answers or too many calls wait. */
export type Upstream = (request: RpcRequest, method: DaemonMethod) => Promise<DaemonReply>;

/** Fewer than the connections of a client, so that the tailer on the same one is never starved. */
const AT_ONCE = 6;
const MOST_WAITING = 100;
const CACHE_BYTES = 64 * 1024 * 1024;
/** Longer ones are rarely asked twice, and keys are memory, too. */
const MAX_KEY = 4096;

export function createUpstream({ daemon, tip, finalityDepth }: UpstreamOptions): Upstream {
  const answers = createRepeatedAnswers({ tip, finalityDepth, maxBytes: CACHE_BYTES });
  const chainGate = createGate(AT_ONCE, MOST_WAITING);
  const loadGates = new Map<Load, Gate>();

  function loadGate(load: Load): Gate {
    const gate = loadGates.get(load) ?? createGate(load.atOnce, load.waiting);
    loadGates.set(load, gate);
    return gate;
  }

  /** Waiting counts: who asks hears within the method's time limit. */
  function ask(request: RpcRequest, method: DaemonMethod): Promise<DaemonReply> {
    const { load } = method;
    const deadline = performance.now() + load.timeoutMs;
    const left = () => Math.max(1, Math.ceil(deadline - performance.now()));
    const call = () => chainGate.run(left(), () => proxyCall(daemon, request, method, left()));
    return load.atOnce === Number.POSITIVE_INFINITY ? call() : loadGate(load).run(left(), call);
  }

  return (request, method) => {
    const lifetime = method.repeatable?.lifetime(request.texts) ?? null;
    if (lifetime === null || request.params.length > MAX_KEY) return ask(request, method);
    const key = `${request.method} ${daemonPrint(request.params)}`;
    return answers.get(key, lifetime, request.id, () => ask(request, method));
  };
}
