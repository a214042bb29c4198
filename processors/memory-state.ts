/** A ChainState in memory: filled by the runner with what a batch needs, kept true by applying each block's facts. */
import type {
  CurrencyFact,
  CurrencyStateFact,
  ExportFact,
  Fact,
  IdentityFact,
  TransferFact,
} from '../schemas/facts.ts';
import {
  type BalanceState,
  type BlockTip,
  type ChainContext,
  type ChainState,
  losesCoins,
  type OutputState,
} from './chain-state.ts';

export interface MutableChainState extends ChainState {
  /** Makes the state what it is after `facts` of the block at `height`. */
  apply(height: number, facts: Iterable<Fact>): void;
  setTip(tip: BlockTip | null): void;
  putOutput(output: OutputState): void;
  putBalance(address: string, currencyId: string, balance: BalanceState): void;
  putIdentity(identity: IdentityFact): void;
  putCurrency(currency: CurrencyFact): void;
  putCurrencyState(state: CurrencyStateFact & { readonly height: number }): void;
  putTransfer(transfer: TransferFact): void;
  putExport(made: ExportFact): void;
}

const point = (txid: string, n: number): string => `${txid}:${n}`;

/** An empty state before genesis. A `put` replaces what was known under the same key. */
export function createMemoryState(chain: ChainContext): MutableChainState {
  let tip: BlockTip | null = null;
  let lostCoins = false;
  const outputs = new Map<string, OutputState>();
  const balances = new Map<string, Map<string, BalanceState>>();
  const identities = new Map<string, IdentityFact>();
  const currencies = new Map<string, CurrencyFact>();
  const currencyStates = new Map<string, CurrencyStateFact & { readonly height: number }>();
  const transfers = new Map<string, TransferFact>();
  const exports = new Map<string, ExportFact>();

  const state: MutableChainState = {
    chain,
    get lostCoins() {
      return lostCoins;
    },
    get tip() {
      return tip;
    },
    output: (txid, n) => outputs.get(point(txid, n)),
    balance: (address, currencyId) => balances.get(address)?.get(currencyId),
    identity: (identityAddress) => identities.get(identityAddress),
    currency: (currencyId) => currencies.get(currencyId),
    currencyState: (currencyId) => currencyStates.get(currencyId),
    currencyStates: () => currencyStates.values(),
    transfer: (txid, vout) => transfers.get(point(txid, vout)),
    export: (txid, vout) => exports.get(point(txid, vout)),

    setTip(next) {
      tip = next;
    },
    putOutput(output) {
      outputs.set(point(output.txid, output.n), output);
    },
    putBalance(address, currencyId, balance) {
      const held = balances.get(address);
      if (held) held.set(currencyId, balance);
      else balances.set(address, new Map([[currencyId, balance]]));
    },
    putIdentity(identity) {
      identities.set(identity.identityAddress, identity);
    },
    putCurrency(currency) {
      currencies.set(currency.currencyId, currency);
    },
    putCurrencyState(currencyState) {
      currencyStates.set(currencyState.currencyId, currencyState);
    },
    putTransfer(transfer) {
      transfers.set(point(transfer.txid, transfer.vout), transfer);
    },
    putExport(made) {
      exports.set(point(made.txid, made.vout), made);
    },

    apply(height, facts) {
      for (const fact of facts) applyFact(height, fact);
    },
  };

  function applyFact(height: number, fact: Fact): void {
    switch (fact.type) {
      case 'output': {
        const { type: _, ...output } = fact;
        state.putOutput({ ...output, height });
        break;
      }
      case 'spend':
        outputs.delete(point(fact.txid, fact.n));
        break;
      case 'balance':
        state.putBalance(fact.address, fact.currencyId, { balance: fact.balance, received: fact.received });
        break;
      case 'identity':
        state.putIdentity(fact);
        break;
      case 'currency':
        state.putCurrency(fact);
        break;
      case 'currency_state':
        state.putCurrencyState({ ...fact, height });
        break;
      case 'transfer':
        state.putTransfer(fact);
        break;
      case 'export':
        state.putExport(fact);
        break;
      case 'dead_letter':
        lostCoins ||= losesCoins(fact.scope);
        break;
      // Finished events: nothing later looks them up.
      case 'block':
      case 'transaction':
      case 'activity':
      case 'reserve_snapshot':
      case 'import':
      case 'reward':
        break;
      default:
        throw new TypeError(`unknown fact: ${fact satisfies never}`);
    }
  }

  return state;
}
