/** Keeps calls from daemons that are known to serve another chain: their answers would be about that chain. */
import { DaemonForeign } from '../../infra/verusd/daemon-errors.ts';
import type { VerusdClient } from '../../infra/verusd/verusd-client.ts';
import type { StageStatuses } from '../state/stage-statuses.ts';

type Daemons = ReadonlyMap<string, VerusdClient>;

/** Clients whose calls throw DaemonForeign while every daemon of the chain is known to serve another one; a group asks only its other daemons. */
export function ownChainDaemons(daemons: Daemons, statuses: () => Pick<StageStatuses, 'daemons'>): Daemons {
  const guarded = [...daemons].map(([chain, daemon]): [string, VerusdClient] => {
    const check = async (): Promise<void> => {
      const known = statuses().daemons(chain);
      if (known.length > 0 && known.every(({ fault }) => fault?.code === 'wrong_chain')) throw new DaemonForeign(chain);
    };
    const client: VerusdClient = {
      get address() {
        return daemon.address;
      },
      call: (...asked) => check().then(() => daemon.call(...asked)),
      callText: (...asked) => check().then(() => daemon.callText(...asked)),
      callRaw: (...asked) => check().then(() => daemon.callRaw(...asked)),
      callRawBatch: (...asked) => check().then(() => daemon.callRawBatch(...asked)),
      forward: (...asked) => check().then(() => daemon.forward(...asked)),
      close: () => daemon.close(),
    };
    return [chain, client];
  });
  return new Map(guarded);
}
