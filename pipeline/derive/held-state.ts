/**
 * The chain's state as far as it is held in memory: all that the last batches made or looked up. The newest of them need not
 * be committed: what they touched is here, and everything else has the same value in the store whether they are or not.
 */
import {
  type BalanceState,
  type BlockTip,
  type ChainContext,
  losesCoins,
  type OutputState,
} from '../../processors/chain-state.ts';
import type { MutableChainState } from '../../processors/memory-state.ts';
import type {
  CurrencyFact,
  CurrencyStateFact,
  ExportFact,
  Fact,
  IdentityFact,
  TransferFact,
} from '../../schemas/facts.ts';
import { createAgingMap } from './aging-map.ts';
import { type BalanceKeys, createBalanceKeys } from './wanted-state.ts';

export interface HeldState extends MutableChainState {
  /** Whether the balance is held, or known not to exist. */
  knowsBalance(address: string, currencyId: string): boolean;
  /** The store has none. */
  putNoBalance(address: string, currencyId: string): void;
  /** Balances that were asked for unknown: they read as empty, so what was derived with them counts for nothing. */
  readonly missed: BalanceKeys;
  /** To be called between batches: makes room when there is much. What the last batch touched stays. */
  age(): void;
}

type CurrencyState = CurrencyStateFact & { readonly height: number };
/** Of one transaction, by their number; undefined where none is known, or it was spent. */
type OutputsMade = (OutputState | undefined)[];

/** Entries of one generation; an entry takes about half a kilobyte, its JSON text not counted. */
const FULL_ENTRIES = 50_000;
const FULL_TEXT = 16 * 1024 * 1024;

const point = (txid: string, n: number): string => `${txid}:${n}`;

/** Nothing is held but the tip, and whether coins were lost before. */
export function createHeldState(chain: ChainContext, tip: BlockTip | null, lostBefore = false): HeldState {
  const outputs = createAgingMap<string, OutputsMade>();
  const balances = createAgingMap<string, Map<string, BalanceState | null>>();
  const identities = createAgingMap<string, IdentityFact>();
  const transfers = createAgingMap<string, TransferFact>();
  const exports = createAgingMap<string, ExportFact>();
  const aging = [outputs, balances, identities, transfers, exports];
  // Few, and any block may name one.
  const currencies = new Map<string, CurrencyFact>();
  const currencyStates = new Map<string, CurrencyState>();
  const missed = createBalanceKeys();
  /** Outputs of one transaction are asked for one after the other. */
  let newestAsked: { readonly txid: string; readonly made: OutputsMade } | null = null;
  let heldText = 0;
  let newest = tip;
  let lostCoins = lostBefore;

  function setBalance(address: string, currencyId: string, balance: BalanceState | null): void {
    const held = balances.get(address);
    if (held) held.set(currencyId, balance);
    else balances.set(address, new Map([[currencyId, balance]]));
  }

  function madeBy(txid: string): OutputsMade | undefined {
    if (newestAsked?.txid === txid) return newestAsked.made;
    const made = outputs.get(txid);
    if (made) newestAsked = { txid, made };
    return made;
  }

  const state: HeldState = {
    chain,
    missed,
    get lostCoins() {
      return lostCoins;
    },
    get tip() {
      return newest;
    },
    output: (txid, n) => madeBy(txid)?.[n],
    balance(address, currencyId) {
      const held = balances.get(address)?.get(currencyId);
      if (held === undefined) missed.add(address, currencyId);
      return held ?? undefined;
    },
    identity: (identityAddress) => identities.get(identityAddress),
    currency: (currencyId) => currencies.get(currencyId),
    currencyState: (currencyId) => currencyStates.get(currencyId),
    currencyStates: () => currencyStates.values(),
    transfer: (txid, vout) => transfers.get(point(txid, vout)),
    export: (txid, vout) => exports.get(point(txid, vout)),
    knowsBalance: (address, currencyId) => balances.get(address)?.has(currencyId) === true,

    setTip(tip) {
      newest = tip;
    },
    putOutput(output) {
      heldText += output.data?.length ?? 0;
      const made = madeBy(output.txid);
      if (made) {
        made[output.n] = output;
        return;
      }
      const list: OutputsMade = [];
      list[output.n] = output;
      outputs.set(output.txid, list);
    },
    putBalance: setBalance,
    putNoBalance: (address, currencyId) => setBalance(address, currencyId, null),
    putIdentity(identity) {
      heldText += identity.state.length + identity.changes.length;
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
    age() {
      const entries = aging.reduce((sum, { size }) => sum + size, 0);
      if (entries < FULL_ENTRIES && heldText < FULL_TEXT) return;
      for (const map of aging) map.turn();
      newestAsked = null;
      heldText = 0;
    },
  };

  function applyFact(height: number, fact: Fact): void {
    switch (fact.type) {
      case 'output':
        state.putOutput({ ...fact, height });
        break;
      case 'spend': {
        const made = madeBy(fact.txid);
        if (made) made[fact.n] = undefined;
        break;
      }
      case 'balance':
        setBalance(fact.address, fact.currencyId, fact);
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
