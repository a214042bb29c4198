import { isLiveBasket } from '../../domain/basket-liveness.ts';
import type { ReserveSnapshotFact } from '../../schemas/facts.ts';
import type { BlockInput, ChainState } from '../state/chain-state.ts';

/** Seconds of the chain's clock. */
const SNAPSHOT_WINDOW_SECONDS = 300;

/**
 * When the block opens a window, returns the state of every live basket at the end of the previous window, ordered by currency id.
 * Reads the states before this block: run it before the block's own currency states are applied.
 */
export function deriveReserveSnapshots({ clock }: Pick<BlockInput, 'clock'>, state: ChainState): ReserveSnapshotFact[] {
  const { tip } = state;
  if (!tip || windowStart(clock) === windowStart(tip.clock)) return [];
  const window = windowStart(tip.clock);
  return [...state.currencyStates()]
    .filter(({ flags }) => isLiveBasket(flags))
    .map(({ currencyId, supply, reserves }): ReserveSnapshotFact => {
      return { type: 'reserve_snapshot', currencyId, window, stateHeight: tip.height, supply, reserves };
    })
    .sort((a, b) => (a.currencyId < b.currencyId ? -1 : 1));
}

function windowStart(clock: number): number {
  return clock - (clock % SNAPSHOT_WINDOW_SECONDS);
}
