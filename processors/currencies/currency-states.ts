import { isLiveBasket } from '../../domain/basket-liveness.ts';
import { stringifyExact } from '../../domain/json/exact-json.ts';
import type { ReserveBalance } from '../../domain/reserves.ts';
import { coinsToSatoshis } from '../../domain/satoshi.ts';
import type { CurrencyStateFact } from '../../schemas/facts.ts';
import {
  conversionObject,
  type DaemonCurrencyState,
  type DaemonReserve,
} from '../../schemas/verusd/conversion-objects.ts';
import type { BlockInput, ChainState } from '../state/chain-state.ts';

/** Every state in the block's notarizations of this chain, possibly several per currency, ordered by txIndex and vout. */
export function deriveCurrencyStates({ block }: BlockInput, state: ChainState): CurrencyStateFact[] {
  const facts: CurrencyStateFact[] = [];
  const liveSince = new Map<string, number>();
  for (const [txIndex, tx] of block.tx.entries()) {
    for (const { n, scriptPubKey } of tx.vout) {
      const notarization = conversionObject(scriptPubKey, 'acceptednotarization');
      if (!notarization?.samechain) continue;
      const { currencyid: currencyId, currencystate } = notarization;
      const earlier = liveSince.get(currencyId) ?? state.currencyState(currencyId)?.liveHeight ?? null;
      const liveHeight = earlier ?? (isLiveBasket(currencystate.flags) ? block.height : null);
      if (liveHeight !== null) liveSince.set(currencyId, liveHeight);
      const place = { txid: tx.txid, vout: n, txIndex };
      facts.push({ type: 'currency_state', currencyId, ...place, ...balances(currencystate), liveHeight });
    }
  }
  return facts;
}

function balances(state: DaemonCurrencyState): Pick<CurrencyStateFact, 'flags' | 'supply' | 'reserves' | 'state'> {
  return {
    flags: state.flags,
    supply: coinsToSatoshis(state.supply),
    reserves: (state.reservecurrencies ?? []).map(reserveBalance),
    state: stringifyExact(state),
  };
}

function reserveBalance(reserve: DaemonReserve): ReserveBalance {
  return {
    currencyId: reserve.currencyid,
    weight: coinsToSatoshis(reserve.weight),
    reserves: coinsToSatoshis(reserve.reserves),
    priceInReserve: coinsToSatoshis(reserve.priceinreserve),
  };
}
