/** Daemon clients for one caller's requests, bounded by lanes and answer memory. */
import type { CallOptions, VerusdClient } from '../../infra/verusd/verusd-client.ts';
import type { HeldAnswers } from '../http/held-answers.ts';
import { createAnswerMemory, MOST_ANSWER_BYTES } from './answer-memory.ts';
import { createPriorityLanes, type PriorityLanes, type WorkOwner } from './priority-lanes.ts';

type Daemons = ReadonlyMap<string, VerusdClient>;

/** Fewer than the connections of a client, so that the tailer, which uses the same client, is never starved. */
const AT_ONCE = 7;
/** How many of these places only the priority lane may use. */
const RESERVED = 2;
/** Length of the queue; one caller may take half of it. */
const MOST_WAITING = 200;
const WAIT_MS = 30_000;

/** Creates the lanes of one chain's daemons, shared by REST and JSON-RPC. Long calls may take only some of the places: rpc-method.ts. */
export function createDaemonLanes(): PriorityLanes {
  return createPriorityLanes({ atOnce: AT_ONCE, reserved: RESERVED, mostWaiting: MOST_WAITING, leavesRoom: false });
}

/**
 * `gone` aborts when the client of the request has disconnected: waiting calls are then not sent, and a call that a daemon is working on
 * ends when its reply begins.
 */
export function daemonsOfOwner(
  daemons: Daemons,
  lanesOf: ReadonlyMap<string, PriorityLanes>,
  answers: Pick<HeldAnswers, 'gather'>,
  owner: WorkOwner,
  gone?: AbortSignal,
): Daemons {
  const bounded = [...daemons].map(([chain, daemon]): [string, VerusdClient] => {
    const lanes = lanesOf.get(chain);
    if (!lanes) return [chain, daemon];
    /** The reply counts only until the call ends, because the caller then answers the request at once. */
    const turn = <T, O extends CallOptions>(options: O, work: (options: O) => Promise<T>) => {
      const call = () => {
        const memory = createAnswerMemory(answers, owner.payer);
        const signals = [options.signal, gone, memory.signal].filter((one) => one !== undefined);
        const signal = signals.length > 1 ? AbortSignal.any(signals) : memory.signal;
        const isWanted = () => !signal.aborted;
        const holds = (bytes: number) => memory.holds(bytes);
        const limits = { ...options, signal, ...(gone && { isWanted }), holds, maxBytes: MOST_ANSWER_BYTES };
        return work(limits).finally(() => memory.release());
      };
      return lanes.run(owner, options.timeoutMs ?? WAIT_MS, call, gone);
    };
    const client: VerusdClient = {
      get address() {
        return daemon.address;
      },
      call: (method, params, options = {}) => turn(options, (limits) => daemon.call(method, params, limits)),
      callText: (method, params, options = {}) => turn(options, (limits) => daemon.callText(method, params, limits)),
      callRaw: (method, params, options = {}) => turn(options, (limits) => daemon.callRaw(method, params, limits)),
      callRawBatch: (method, params, members, options = {}) =>
        turn(options, (limits) => daemon.callRawBatch(method, params, members, limits)),
      forward: (body, options) => turn(options, (limits) => daemon.forward(body, limits)),
      close: () => daemon.close(),
    };
    return [chain, client];
  });
  return new Map(bounded);
}
