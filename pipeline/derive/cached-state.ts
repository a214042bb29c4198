/**
 * The part of the chain's state that is cached in memory: everything that the last batches made or looked up. The newest batches need
 * not be committed: what they touched is cached, and everything else has the same value in the store before and after their commit.
 */
import type { BlockTip, ChainContext, MutableChainState } from '../../processors/state/chain-state.ts';
import { createChainState, plainMap, type StateMaps, stateMaps } from '../../processors/state/create-chain-state.ts';
import { type KeyedMap, pairKeyMap, singleKeyMap } from '../../processors/state/keyed-map.ts';
import type { BalanceFact } from '../../schemas/facts.ts';
import { type AgingMap, createAgingMap } from './aging-map.ts';
import { type BalanceKeys, createBalanceKeys } from './required-keys.ts';

export interface CachedState extends MutableChainState {
  /** Whether the balance is cached, or known not to exist. */
  knowsBalance(address: string, currencyId: string): boolean;
  /** Records that the store has no such balance. */
  putNoBalance(address: string, currencyId: string): void;
  /** Balances that were looked up but not loaded: they read as empty, so facts derived with them are invalid. */
  readonly missed: BalanceKeys;
  /** Call between batches: drops old entries when the cache is full. Entries that the last batch touched stay. */
  age(): void;
}

/** Entries of one generation; an entry takes about half a kilobyte, without its JSON text. */
const FULL_ENTRIES = 50_000;
const FULL_TEXT = 16 * 1024 * 1024;

/** Returns an empty cache that only knows the tip and whether coins were lost before. */
export function createCachedState(chain: ChainContext, tip: BlockTip | null, lostBefore = false): CachedState {
  const aging: Pick<AgingMap<string, unknown>, 'size' | 'turn'>[] = [];
  const missed = createBalanceKeys();
  let heldText = 0;

  function agingMap<V>(): AgingMap<string, V> {
    const map = createAgingMap<string, V>();
    aging.push(map);
    return map;
  }

  /** Counts the length of the texts in stored values, which may be long. */
  function measured<V>(map: KeyedMap<V>, textOf: (value: V) => number): KeyedMap<V> {
    return {
      ...map,
      set(value, first, second) {
        heldText += textOf(value);
        map.set(value, first, second);
      },
    };
  }

  const known = pairKeyMap<BalanceFact | null>(agingMap());
  const balance: KeyedMap<BalanceFact> = {
    ...known,
    get(address, currencyId = '') {
      const held = known.get(address, currencyId);
      if (held === undefined) missed.add(address, String(currencyId));
      return held ?? undefined;
    },
    values: () => [...known.values()].filter((held) => held !== null),
  };
  const maps: StateMaps = {
    // Currencies are few and any block may name one, so they do not age.
    ...stateMaps(plainMap),
    output: measured(pairKeyMap(agingMap()), ({ data }) => data?.length ?? 0),
    balance,
    identity: measured(singleKeyMap(agingMap()), ({ state, changes }) => state.length + changes.length),
    transfer: pairKeyMap(agingMap()),
    export: pairKeyMap(agingMap()),
  };

  return Object.assign(createChainState(chain, maps, tip, lostBefore), {
    missed,
    knowsBalance: (address: string, currencyId: string) => known.get(address, currencyId) !== undefined,
    putNoBalance: (address: string, currencyId: string) => known.set(null, address, currencyId),
    age() {
      const entries = aging.reduce((sum, { size }) => sum + size, 0);
      if (entries < FULL_ENTRIES && heldText < FULL_TEXT) return;
      for (const map of aging) map.turn();
      heldText = 0;
    },
  });
}
