/** The daemons of the chains as one caller's requests see them. */
import type { VerusdClient } from '../../infra/verusd/verusd-client.ts';
import { createPriorityLanes, type PriorityLanes, type WorkOwner } from './priority-lanes.ts';

type Daemons = ReadonlyMap<string, VerusdClient>;

/** Fewer than the connections of a client, so that the tailer on the same one is never starved. */
const AT_ONCE = 7;
/** More at once for the priority lane: these are its own. */
const RESERVED = 2;
/** One caller has half of them. */
const MOST_WAITING = 200;
const WAIT_MS = 30_000;

/** Lanes of one chain's daemons, shared by REST and JSON-RPC. Calls that take long have fewer places than there are: rpc-method.ts. */
export function createDaemonLanes(): PriorityLanes {
  return createPriorityLanes({ atOnce: AT_ONCE, reserved: RESERVED, mostWaiting: MOST_WAITING, leavesRoom: false });
}

export function daemonsOfOwner(
  daemons: Daemons,
  lanesOf: ReadonlyMap<string, PriorityLanes>,
  owner: WorkOwner,
): Daemons {
  const bounded = [...daemons].map(([chain, daemon]): [string, VerusdClient] => {
    const lanes = lanesOf.get(chain);
    if (!lanes) return [chain, daemon];
    const turn = <T>(timeoutMs: number | undefined, work: () => Promise<T>) =>
      lanes.run(owner, timeoutMs ?? WAIT_MS, work);
    const client: VerusdClient = {
      get address() {
        return daemon.address;
      },
      call: (method, params, options) => turn(options?.timeoutMs, () => daemon.call(method, params, options)),
      callText: (method, params, options) => turn(options?.timeoutMs, () => daemon.callText(method, params, options)),
      callRaw: (method, params, options) => turn(options?.timeoutMs, () => daemon.callRaw(method, params, options)),
      callRawBatch: (method, params, options) =>
        turn(options?.timeoutMs, () => daemon.callRawBatch(method, params, options)),
      forward: (body, options) => turn(options.timeoutMs, () => daemon.forward(body, options)),
      close: () => daemon.close(),
    };
    return [chain, client];
  });
  return new Map(bounded);
}
