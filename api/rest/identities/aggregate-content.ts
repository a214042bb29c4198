/** Merges the content of several updates of an identity and applies their removals, as getidentitycontent does. */
import { LosslessNumber } from 'lossless-json';
import { getOrInsert } from '../../../domain/get-or-insert.ts';
import type { Multimap } from './multimap-content.ts';

export interface ContentUpdate {
  readonly content: Multimap;
  /** Hash of each value, in the shape of the content; null if the output could not be read. */
  readonly hashes: Readonly<Record<string, readonly string[]>> | null;
}

/** `vrsc::identity.multimapremove`: values under this key are removals, not content. */
const REMOVE_KEY = 'i5Zkx5Z7tEfh42xtKfwbJ5LgEWE9rEgpFY';
const ONE_VALUE = 1;
const ALL_SUCH_VALUES = 2;
const WHOLE_KEY = 3;
const EVERYTHING = 4;

interface Entry {
  readonly value: unknown;
  isRemoved: boolean;
}

/** Values of one key. Removed values are only marked, so that a removal costs no more than the number of values it removes. */
interface Values {
  readonly entries: Entry[];
  /** Entries that a removal can match, oldest first, and how many of them are removed. */
  readonly byHash: Map<string, { readonly entries: Entry[]; gone: number }>;
}

type Keys = Map<string, Values>;

export interface ContentFold {
  /** Adds the next update in chain order. The keys of an update apply in the daemon's order, sorted by address. */
  add(update: ContentUpdate): void;
  /** The values that remain after all updates. */
  content(): Multimap;
}

export function createContentFold(): ContentFold {
  const keys: Keys = new Map();
  return {
    add({ content, hashes }) {
      for (const key of Object.keys(content).sort()) {
        const values = asList(content[key]);
        if (key === REMOVE_KEY) for (const value of values) remove(keys, value);
        else append(keys, key, values, hashes?.[key]);
      }
    },
    content() {
      const kept = [...keys].map(([key, { entries }]) => [key, entries.filter(({ isRemoved }) => !isRemoved)] as const);
      const filled = kept.filter(([, entries]) => entries.length > 0).sort(([a], [b]) => (a < b ? -1 : 1));
      return Object.fromEntries(filled.map(([key, entries]) => [key, entries.map(({ value }) => value)]));
    },
  };
}

function append(keys: Keys, key: string, values: readonly unknown[], hashes: readonly string[] | undefined): void {
  const { entries, byHash } = getOrInsert(keys, key, () => ({ entries: [], byHash: new Map() }));
  for (const [index, value] of values.entries()) {
    const entry = { value, isRemoved: false };
    entries.push(entry);
    const hash = hashes?.[index];
    if (hash === undefined) continue;
    const alike = byHash.get(hash);
    if (alike) alike.entries.push(entry);
    else byHash.set(hash, { entries: [entry], gone: 0 });
  }
}

/** Only the first of several objects in one value counts; values that are not removals are skipped. */
function remove(keys: Keys, value: unknown): void {
  const removal = member(asList(value)[0], REMOVE_KEY);
  const key = String(member(removal, 'entrykey'));
  const hash = member(removal, 'valuehash');
  switch (numeric(member(removal, 'action'))) {
    case EVERYTHING:
      keys.clear();
      break;
    case WHOLE_KEY:
      keys.delete(key);
      break;
    case ALL_SUCH_VALUES:
      removeValues(keys.get(key), hash, Number.POSITIVE_INFINITY);
      break;
    case ONE_VALUE:
      removeValues(keys.get(key), hash, 1);
      break;
  }
}

/** Removes the oldest values with this hash, at most `most` of them. */
function removeValues(values: Values | undefined, hash: unknown, most: number): void {
  const alike = typeof hash === 'string' ? values?.byHash.get(hash) : undefined;
  if (!alike) return;
  const end = Math.min(alike.entries.length, alike.gone + most);
  for (const entry of alike.entries.slice(alike.gone, end)) entry.isRemoved = true;
  alike.gone = end;
}

const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [value]);

function member(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>)[key] : undefined;
}

function numeric(value: unknown): number {
  return value instanceof LosslessNumber ? Number(value.value) : Number(value);
}
