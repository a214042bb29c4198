/**
 * Names in filters and thresholds → i-addresses. A currency is looked up as on REST paths, in the directory as it was read last; a name
 * that it does not have stands for each address that a currency of this name would get.
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
  /** Reads the directory unless it is that of the newest state: then null. @throws errors of Postgres; then names mean what they did */
  refresh(): Promise<void> | null;
  /** Another number once a name may mean another currency. */
  version(): number;
  /** Null for a currency that a chain has, else names that are near; only after a refresh(). */
  unknownCurrency(name: string): { readonly suggestions: readonly string[] } | null;
}

export interface NamesOptions {
  readonly chains: readonly ChainConfig[];
  readonly currencies: CurrencyDirectory;
  readonly watch: Pick<StateWatch, 'state'>;
  readonly withSnapshot: WithSnapshot;
}

/** Names whose ids are remembered: clients come back with the same ones. */
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
      // That of the default chain comes first.
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

/** Most states that follow one another define no currency. */
function fingerprintOf(currencies: Currencies): string {
  return Array.from(currencies.all(), ({ currencyId, chain, fullyQualifiedName }) =>
    [currencyId, chain, fullyQualifiedName].join(' '),
  ).join('\n');
}
