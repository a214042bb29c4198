/**
 * Resolves names in filters and thresholds to i-addresses. A currency is looked up as on REST paths, in the directory that was read last;
 * an unknown name stands for each address that a currency of this name would get.
 */
import { isTransparentAddress } from '../../domain/addresses.ts';
import { BRIDGED_SUFFIX, nameToAddress } from '../../domain/names.ts';
import { createFlights } from '../../infra/shared.ts';
import type { ChainConfig } from '../../schemas/config.ts';
import type { Currencies, CurrencyDirectory } from '../state/currency-directory.ts';
import { memoize } from '../state/memoize.ts';
import { nameAddress } from '../state/name-address.ts';
import { nearNames } from '../state/near-names.ts';
import type { WithSnapshot } from '../state/snapshot.ts';
import type { StateWatch } from '../state/state-watch.ts';
import { isCurrencyName } from './filter-size.ts';
import type { IdsOf } from './subscription.ts';

export interface Names {
  readonly idsOf: IdsOf;
  /** Reads the directory; null if it is that of the newest state. @throws errors of Postgres; then names keep their meaning */
  refresh(): Promise<void> | null;
  /** Changes when a name may mean another currency. */
  version(): number;
  /** Returns null for a currency that a chain has, else similar names. Call refresh() before. */
  unknownCurrency(name: string): { readonly suggestions: readonly string[] } | null;
}

export interface NamesOptions {
  readonly chains: readonly ChainConfig[];
  readonly currencies: CurrencyDirectory;
  readonly watch: Pick<StateWatch, 'state'>;
  readonly withSnapshot: WithSnapshot;
}

/** Names whose ids are cached: clients return with the same names. */
const REMEMBERED_NAMES = 5_000;

export function createNames({ chains, currencies, watch, withSnapshot }: NamesOptions): Names {
  const networks = chains.filter(
    ({ networkRoot }, index) => chains.findIndex((chain) => chain.networkRoot === networkRoot) === index,
  );
  const rootOf = new Map(chains.map(({ name, networkRoot }) => [name, networkRoot]));
  const flights = createFlights<string, void>();
  let known: Currencies | null = null;
  let tag: string | null = null;
  let fingerprint = '';
  let version = 0;
  /** A name is hashed once for each network of chains, an address not at all. */
  const idsOfAddress = memoize((text: string): readonly string[] => {
    if (isTransparentAddress(text)) return [text];
    return distinct([text, ...networks.map(({ networkRoot }) => nameToAddress(text, networkRoot))]);
  }, REMEMBERED_NAMES);
  let idsOfCurrency = rememberedCurrencies();

  function rememberedCurrencies(): (text: string) => readonly string[] {
    return memoize((text) => {
      // The currency of the default chain comes first.
      const meant = chains[0] && find(text, chains[0])?.currencyId;
      return distinct([meant ?? null, ...networks.flatMap((network) => idsInNetwork(text, network))]);
    }, REMEMBERED_NAMES);
  }

  const find = (text: string, chain: ChainConfig) => known?.find(text, chain);

  function idsInNetwork(text: string, network: ChainConfig): readonly (string | null)[] {
    const found = find(text, network);
    if (found && rootOf.get(found.chain) === network.networkRoot) return [found.currencyId];
    return [text, text + BRIDGED_SUFFIX].map((name) => nameAddress(name, network.networkRoot));
  }

  async function read(): Promise<void> {
    const [readTag, found] = await withSnapshot(async (snapshot) => {
      return [snapshot.state.tag, await currencies.of(snapshot)] as const;
    });
    tag = readTag;
    const readFingerprint = fingerprintOf(found);
    if (readFingerprint === fingerprint) return;
    known = found;
    fingerprint = readFingerprint;
    version += 1;
    idsOfCurrency = rememberedCurrencies();
  }

  return {
    idsOf: (text, list) => (isCurrencyName(text, list) ? idsOfCurrency(text) : idsOfAddress(text)),
    refresh: () => (watch.state.tag === tag ? null : flights('directory', read)),
    version: () => version,
    unknownCurrency(name) {
      if (!known || (chains[0] && find(name, chains[0]))) return null;
      return { suggestions: nearNames(name, known.all()) };
    },
  };
}

function distinct(ids: readonly (string | null)[]): readonly string[] {
  return [...new Set(ids.filter((id) => id !== null))];
}

/** Tells directories apart: most new states define no currency. */
function fingerprintOf(currencies: Currencies): string {
  return Array.from(currencies.all(), ({ currencyId, chain, fullyQualifiedName }) =>
    [currencyId, chain, fullyQualifiedName].join(' '),
  ).join('\n');
}
