/** The chain state over one keyed map for each recalled type of fact: filled by the runner, kept up to date by each block's facts. */
import type { Definition } from '../../schemas/facts/definition.ts';
import { DEFINITIONS, FACTS, type FactType } from '../../schemas/facts.ts';
import {
  type BlockTip,
  type ChainContext,
  losesCoins,
  type MutableChainState,
  type Recalled,
  type RecalledType,
} from './chain-state.ts';
import { type Key, type KeyedMap, type KeyPart, overlayMap, pairKeyMap, singleKeyMap } from './keyed-map.ts';

export type StateMaps = { readonly [T in RecalledType]: KeyedMap<Recalled<T>> };

type Keyed = Definition<FactType> & { readonly key: NonNullable<Definition['key']> };
type Values = Readonly<Record<string, unknown>>;
type Put = (fact: Values, height: number) => void;

const RECALLED = FACTS.filter((definition): definition is Keyed => {
  if (definition.recalled !== 'no' && !definition.key)
    throw new TypeError(`a ${definition.type} has no key to recall it by`);
  return definition.recalled !== 'no';
});

/** One map for each recalled type; a definition is looked up by its type, so that a map contains only facts of its own type. */
export function stateMaps(mapFor: (definition: Keyed) => KeyedMap<unknown>): StateMaps {
  return Object.fromEntries(
    RECALLED.map((definition) => [definition.type, mapFor(definition)]),
  ) as unknown as StateMaps;
}

export const plainMap = <V>({ key }: Keyed): KeyedMap<V> => (key.length === 2 ? pairKeyMap() : singleKeyMap());

export function createChainState(
  chain: ChainContext,
  maps: StateMaps,
  startTip: BlockTip | null,
  lostBefore: boolean,
): MutableChainState {
  let tip = startTip;
  let lostCoins = lostBefore;
  const puts = putsInto(maps);

  return {
    chain,
    get lostCoins() {
      return lostCoins;
    },
    get tip() {
      return tip;
    },
    output: maps.output.get,
    balance: maps.balance.get,
    identity: maps.identity.get,
    currency: maps.currency.get,
    currencyState: maps.currency_state.get,
    currencyStates: maps.currency_state.values,
    transfer: maps.transfer.get,
    export: maps.export.get,

    setTip(next) {
      tip = next;
    },
    put(state) {
      const { key } = DEFINITIONS[state.type];
      if (key) mapOf(maps, state.type).set(state, ...keyOf(key, state as unknown as Values));
    },
    apply(height, facts) {
      for (const fact of facts) {
        puts.get(fact.type)?.(fact as unknown as Values, height);
        if (fact.type === 'dead_letter') lostCoins ||= losesCoins(fact.scope);
      }
    },
    overlay() {
      const above = stateMaps((definition) => {
        const ofValue = (value: unknown) => keyOf(definition.key, value as Values);
        return overlayMap(mapOf(maps, definition.type), plainMap(definition), ofValue);
      });
      return createChainState(chain, above, tip, lostCoins);
    },
  };
}

function mapOf(maps: StateMaps, type: string): KeyedMap<unknown> {
  return maps[type as RecalledType] as KeyedMap<unknown>;
}

function keyOf([first, second]: Keyed['key'], values: Values): Key {
  return [values[first] as string, second === undefined ? undefined : (values[second] as KeyPart)];
}

/** Effect of each type of fact on the maps; finished events have none. */
function putsInto(maps: StateMaps): ReadonlyMap<FactType, Put> {
  const puts = new Map<FactType, Put>();
  for (const { type, key, recalled } of RECALLED) {
    const map = mapOf(maps, type);
    const withHeight = recalled === 'fact_and_height';
    puts.set(type, (fact, height) => map.set(withHeight ? { ...fact, height } : fact, ...keyOf(key, fact)));
  }
  for (const { type, key, postgres } of FACTS) {
    if (!key || postgres?.life !== 'end') continue;
    const map = mapOf(maps, postgres.of);
    puts.set(type, (fact) => map.delete(...keyOf(key, fact)));
  }
  return puts;
}
