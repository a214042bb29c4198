/** Finds existing names that are similar to an unknown one. */
import { distance } from 'fastest-levenshtein';
import { foldCase } from '../../domain/names.ts';
import type { CurrencyEntry } from './currency-directory.ts';

export const MOST_NEAR = 3;
/** A label has at most 64 bytes: a longer text is not a typing error. */
const MAX_LENGTH = 128;

/**
 * Returns the entries with a similar name, nearest first: at most half of the letters differ (two swapped letters count as two). `namesOf` must
 * return the qualified name first.
 */
export function nearest<Entry>(
  text: string,
  entries: Iterable<Entry>,
  namesOf: (entry: Entry) => readonly [string, ...string[]],
): Entry[] {
  const asked = foldCase(text);
  if (asked.length > MAX_LENGTH) return [];
  const near: { readonly entry: Entry; readonly name: string; readonly away: number }[] = [];
  for (const entry of entries) {
    const names = namesOf(entry);
    const away = Math.min(...names.map((known) => distance(asked, foldCase(known))));
    if (away * 2 <= Math.max(2, asked.length)) near.push({ entry, name: names[0], away });
  }
  near.sort((a, b) => a.away - b.away || (a.name < b.name ? -1 : 1));
  return near.slice(0, MOST_NEAR).map(({ entry }) => entry);
}

/** Returns qualified names of currencies similar to a text; the name without parents is compared too. */
export function nearNames(text: string, entries: Iterable<CurrencyEntry>): string[] {
  const found = nearest(text, entries, ({ name, fullyQualifiedName }) => [fullyQualifiedName, name]);
  return found.map(({ fullyQualifiedName }) => fullyQualifiedName);
}
