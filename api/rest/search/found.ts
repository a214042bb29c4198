/** A hit of a search. */
import type { CurrencyEntry } from '../../state/currency-directory.ts';
import type { FOUND_TYPES } from './explorer-schema.ts';

export interface SearchHit {
  readonly type: (typeof FOUND_TYPES)[number];
  readonly id: string;
  readonly label: string;
  readonly chain: string;
  readonly url: string;
}

/** `name` is qualified. */
export function identityFound(chain: string, address: string, name: string): SearchHit {
  return { type: 'identity', id: address, label: `${name}@`, chain, url: `/api/identity/${address}?chain=${chain}` };
}

export function kindOf({ type }: Pick<CurrencyEntry, 'type'>): 'basket' | 'currency' {
  return type === 'basket' ? type : 'currency';
}

export function currencyFound(currency: CurrencyEntry): SearchHit {
  const { currencyId: id, fullyQualifiedName: label, chain } = currency;
  return { type: kindOf(currency), id, label, chain, url: `/api/currency/${id}?chain=${chain}` };
}
