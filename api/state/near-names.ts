/** Suggestions for the name of a currency that does not exist. */
import { distance } from 'fastest-levenshtein';
import { foldCase } from '../../domain/names.ts';
import type { CurrencyEntry } from './currency-directory.ts';

const SHOWN = 3;
/** A label has at most 64 bytes: a longer text is not a typing error. */
const MAX_LENGTH = 128;

/** Qualified names at most half of the letters away (two that changed places count as two), nearest first; each currency also by its name without parents. */
export function nearNames(text: string, entries: Iterable<CurrencyEntry>): string[] {
  const asked = foldCase(text);
  if (asked.length > MAX_LENGTH) return [];
  const near: { readonly name: string; readonly away: number }[] = [];
  for (const { name, fullyQualifiedName } of entries) {
    const away = Math.min(...[name, fullyQualifiedName].map((known) => distance(asked, foldCase(known))));
    if (away * 2 <= Math.max(2, asked.length)) near.push({ name: fullyQualifiedName, away });
  }
  near.sort((a, b) => a.away - b.away || (a.name < b.name ? -1 : 1));
  return near.slice(0, SHOWN).map(({ name }) => name);
}
