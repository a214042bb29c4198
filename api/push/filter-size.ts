/** Cost of a filter, computed before any of its names is hashed. */
import { looksLikeIdentityAddress } from '../../domain/addresses.ts';
import type { Filter } from './client-message.ts';
import { MAX_ENTRY_CHARACTERS, MAX_ENTRY_LABELS, MAX_FILTER_ENTRIES, MAX_FILTER_WORK } from './limits.ts';
import { LimitExceeded, SubscriptionRefused } from './subscription-refused.ts';

export const LISTS = ['currency', 'basket', 'identity', 'address'] as const;

export interface FilterSize {
  /** Number of entries, including repeated ones. */
  readonly entries: number;
  /** One unit per entry and one per label, since each label is hashed. A currency name counts again with its bridged suffix. */
  readonly work: number;
}

export function entriesOf(filter: Filter, list: (typeof LISTS)[number]): readonly string[] {
  const value = filter[list] ?? [];
  return typeof value === 'string' ? [value] : value;
}

/** @throws SubscriptionRefused, LimitExceeded */
export function filterSize(filter: Filter): FilterSize {
  let entries = 0;
  let work = 0;
  for (const list of LISTS) {
    for (const entry of entriesOf(filter, list)) {
      entries += 1;
      if (entries > MAX_FILTER_ENTRIES)
        throw new LimitExceeded(`a filter may have ${MAX_FILTER_ENTRIES} entries`, '/filter');
      work += entryWork(entry, list, `/filter/${list}`);
    }
  }
  if (work > MAX_FILTER_WORK) {
    const most = `its entries and the labels of its names may be ${MAX_FILTER_WORK} together, these are ${work}`;
    throw new SubscriptionRefused('invalid_message', '/filter', `the filter is too large: ${most}`);
  }
  return { entries, work };
}

/** Whether an entry is looked up among the currencies. */
export function isCurrencyName(entry: string, list: (typeof LISTS)[number]): boolean {
  return (list === 'currency' || list === 'basket') && !looksLikeIdentityAddress(entry);
}

export function hasCurrencyNames(filter: Filter): boolean {
  return LISTS.some((list) => entriesOf(filter, list).some((entry) => isCurrencyName(entry, list)));
}

/** @throws SubscriptionRefused */
export function entryWork(entry: string, list: (typeof LISTS)[number], at: string): number {
  const work = 1 + labelsOf(entry, at);
  return isCurrencyName(entry, list) ? 2 * work + 1 : work;
}

/** Number of labels of a name or an address. @throws SubscriptionRefused */
function labelsOf(entry: string, at: string): number {
  const labels = entry.length > MAX_ENTRY_CHARACTERS ? Number.POSITIVE_INFINITY : entry.split('.').length;
  if (entry !== '' && labels <= MAX_ENTRY_LABELS) return labels;
  const allowed = `from 1 to ${MAX_ENTRY_CHARACTERS} characters and at most ${MAX_ENTRY_LABELS} labels`;
  const detail = `a name or an address has ${allowed}; this one has ${entry.length} characters`;
  throw new SubscriptionRefused('invalid_message', at, detail);
}
