/** A state on top of another one, which it leaves as it is: to see what a block would do. */
import type { Fact } from '../schemas/facts.ts';
import type { ChainState, CurrencyStateAt } from './chain-state.ts';
import { createMemoryState, type MutableChainState } from './memory-state.ts';

export function createOverlayState(base: ChainState): MutableChainState {
  const own = createMemoryState(base.chain);
  const spent = new Set<string>();
  own.setTip(base.tip);

  return {
    ...own,
    lostCoins: base.lostCoins,
    get tip() {
      return own.tip;
    },
    output(txid, n) {
      if (spent.has(`${txid}:${n}`)) return undefined;
      return own.output(txid, n) ?? base.output(txid, n);
    },
    balance: (address, currencyId) => own.balance(address, currencyId) ?? base.balance(address, currencyId),
    identity: (identityAddress) => own.identity(identityAddress) ?? base.identity(identityAddress),
    currency: (currencyId) => own.currency(currencyId) ?? base.currency(currencyId),
    currencyState: (currencyId) => own.currencyState(currencyId) ?? base.currencyState(currencyId),
    *currencyStates() {
      const changed = new Map<string, CurrencyStateAt>();
      for (const state of own.currencyStates()) changed.set(state.currencyId, state);
      for (const state of base.currencyStates()) if (!changed.has(state.currencyId)) yield state;
      yield* changed.values();
    },
    transfer: (txid, vout) => own.transfer(txid, vout) ?? base.transfer(txid, vout),
    export: (txid, vout) => own.export(txid, vout) ?? base.export(txid, vout),
    apply(height: number, facts: Iterable<Fact>) {
      for (const fact of facts) {
        own.apply(height, [fact]);
        if (fact.type === 'spend') spent.add(`${fact.txid}:${fact.n}`);
      }
    },
  };
}
