/** All currencies that are currently defined. They are few, so all are kept in memory and read again when the state has moved. */

import { CURRENCY_OPTIONS } from '../../domain/flags.ts';
import { BRIDGED_SUFFIX, foldCase } from '../../domain/names.ts';
import { columns, type RowRead, rowReader } from '../../infra/row-reader.ts';
import type { ChainConfig } from '../../schemas/config.ts';
import { CURRENCY_TYPES, type CurrencyType } from '../../schemas/facts.ts';
import { nativeCurrencyId } from '../../schemas/native-currency-id.ts';
import { nameAddress } from './name-address.ts';
import type { Snapshot } from './snapshot.ts';

export interface CurrencyEntry {
  readonly currencyId: string;
  /** Home chain of the currency; other chains may define it too, after an export. */
  readonly chain: string;
  readonly name: string;
  /** As getcurrency prints it: `Bridge.vETH`. */
  readonly fullyQualifiedName: string;
  readonly type: CurrencyType;
  readonly options: number;
}

export interface Currencies {
  all(): Iterable<CurrencyEntry>;
  get(currencyId: string): CurrencyEntry | undefined;
  /** Returns the chain whose own coin this is; null when no chain or more than one has it. */
  chainOf(systemId: string): string | null;
  /** Returns the qualified name; null for an id that no chain defines. */
  name(currencyId: string | null): string | null;
  /** Finds by i-address, qualified name, unqualified name, or the name of a bridged currency without `.vETH`; ignores ASCII case. */
  find(text: string, chain: ChainConfig): CurrencyEntry | undefined;
}

export interface CurrencyDirectory {
  of(read: Snapshot): Promise<Currencies>;
  /** i-address of a chain's own coin. */
  nativeId(chain: ChainConfig): string;
}

const SQL = `SELECT chain, currency_id AS "currencyId", name, fully_qualified_name AS "fullyQualifiedName",
  currency_type AS type, options, system_id AS "systemId", parent FROM currencies WHERE to_height IS NULL
  ORDER BY chain, from_height, currency_id`;
const readDefined = rowReader({
  chain: columns.text,
  currencyId: columns.text,
  name: columns.text,
  fullyQualifiedName: columns.text,
  type: columns.choice(CURRENCY_TYPES),
  options: columns.number,
  systemId: columns.text,
  parent: columns.nullable(columns.text),
});
const NATIVE_OPTIONS = CURRENCY_OPTIONS.PBAAS | CURRENCY_OPTIONS.ID_REFERRALS;

export function createCurrencyDirectory(chains: readonly ChainConfig[]): CurrencyDirectory {
  const natives = new Map(chains.map((chain) => [chain.name, nativeEntry(chain)]));
  /** Two networks may have roots of the same name: the home chain of that coin is the one configured first. */
  const byId = new Map([...natives.values()].reverse().map((entry) => [entry.currencyId, entry]));
  let kept: { readonly tag: string; readonly currencies: Currencies } | null = null;
  return {
    nativeId: (chain) => natives.get(chain.name)?.currencyId ?? nativeEntry(chain).currencyId,
    async of(read) {
      if (kept?.tag === read.state.tag) return kept.currencies;
      const entries = new Map(byId);
      for (const entry of homesFirst(await read.rows(readDefined, SQL), [...natives.values()])) {
        if (natives.has(entry.chain) && !entries.has(entry.currencyId)) entries.set(entry.currencyId, entry);
      }
      const currencies = indexed(entries, chains);
      kept = { tag: read.state.tag, currencies };
      return currencies;
    },
  };
}

type DefinedCurrency = RowRead<typeof readDefined>;

/**
 * Sorts definitions so that each currency's home chain comes first: the chain of its system or, for a gateway, which has no blocks, the chain that
 * defines the gateway. Other chains follow in the order of the configuration.
 */
function homesFirst(defined: readonly DefinedCurrency[], natives: readonly CurrencyEntry[]): readonly CurrencyEntry[] {
  const place = new Map(natives.map(({ chain }, index) => [chain, index]));
  const chainOfSystem = new Map([...natives].reverse().map(({ currencyId, chain }) => [currencyId, chain]));
  const parents = new Map(defined.map(({ currencyId, parent }) => [currencyId, parent]));
  const rank = ({ chain, systemId }: DefinedCurrency): number => {
    const home = chainOfSystem.get(systemId) ?? chainOfSystem.get(parents.get(systemId) ?? '');
    return home === chain ? -1 : (place.get(chain) ?? natives.length);
  };
  return [...defined].sort((a, b) => rank(a) - rank(b));
}

function nativeEntry(chain: ChainConfig): CurrencyEntry {
  const name = chain.rootCurrency;
  const currencyId = nativeCurrencyId(chain);
  return { currencyId, chain: chain.name, name, fullyQualifiedName: name, type: 'native', options: NATIVE_OPTIONS };
}

function indexed(entries: ReadonlyMap<string, CurrencyEntry>, chains: readonly ChainConfig[]): Currencies {
  const byQualified = new Map<string, CurrencyEntry>();
  const homes = Map.groupBy(chains, nativeCurrencyId);
  const byName = new Map<string, CurrencyEntry[]>();
  for (const entry of entries.values()) {
    const qualified = foldCase(entry.fullyQualifiedName);
    if (!byQualified.has(qualified)) byQualified.set(qualified, entry);
    const name = foldCase(entry.name);
    byName.set(name, [...(byName.get(name) ?? []), entry]);
  }

  function byHash(text: string, chain: ChainConfig): CurrencyEntry | undefined {
    const id = nameAddress(text, chain.networkRoot);
    return id === null ? undefined : entries.get(id);
  }

  function find(text: string, chain: ChainConfig): CurrencyEntry | undefined {
    const folded = foldCase(text);
    const exact = entries.get(text) ?? byHash(text, chain) ?? byQualified.get(folded);
    if (exact) return exact;
    const bridged = byHash(text + BRIDGED_SUFFIX, chain) ?? byQualified.get(folded + foldCase(BRIDGED_SUFFIX));
    if (bridged) return bridged;
    const [only, ...others] = byName.get(folded) ?? [];
    return others.length === 0 ? only : undefined;
  }

  return {
    all: () => entries.values(),
    get: (currencyId) => entries.get(currencyId),
    chainOf: (systemId) => {
      const [only, ...others] = homes.get(systemId) ?? [];
      return others.length === 0 ? (only?.name ?? null) : null;
    },
    name: (currencyId) => (currencyId === null ? null : (entries.get(currencyId)?.fullyQualifiedName ?? null)),
    find: (text, chain) => {
      const found = find(text, chain);
      if (found) return found;
      const others = chains.filter((other) => other.name !== chain.name);
      return others.map((other) => byHash(text, other)).find((entry) => entry !== undefined);
    },
  };
}
