/** Content of an identity over several updates, removals honoured, as getidentitycontent merges them. */
import { LosslessNumber } from 'lossless-json';
import type { Multimap } from './multimap-content.ts';

export interface ContentUpdate {
  readonly content: Multimap;
  /** Hash of each value, in the shape of the content; null where the output could not be read. */
  readonly hashes: Readonly<Record<string, readonly string[]>> | null;
}

/** `vrsc::identity.multimapremove`: what stands under it is no content. */
const REMOVE_KEY = 'i5Zkx5Z7tEfh42xtKfwbJ5LgEWE9rEgpFY';
const ONE_VALUE = 1;
const ALL_SUCH_VALUES = 2;
const WHOLE_KEY = 3;
const EVERYTHING = 4;

interface Entry {
  readonly value: unknown;
  readonly hash: string | undefined;
}
type Entries = Map<string, Entry[]>;

/** Updates in the order of the chain. Inside one the keys are in the daemon's order, which is that of their addresses. */
export function aggregateContent(updates: Iterable<ContentUpdate>): Multimap {
  const entries: Entries = new Map();
  for (const { content, hashes } of updates) {
    for (const key of Object.keys(content).sort()) {
      const values = asList(content[key]);
      if (key === REMOVE_KEY) for (const value of values) remove(entries, value);
      else {
        const added = values.map((value, index) => ({ value, hash: hashes?.[key]?.[index] }));
        entries.set(key, [...(entries.get(key) ?? []), ...added]);
      }
    }
  }
  const kept = [...entries].filter(([, values]) => values.length > 0).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(kept.map(([key, values]) => [key, values.map(({ value }) => value)]));
}

/** Only the first of several objects in one value counts; values other than removals are skipped. */
function remove(entries: Entries, value: unknown): void {
  const removal = member(asList(value)[0], REMOVE_KEY);
  const key = String(member(removal, 'entrykey'));
  const values = entries.get(key) ?? [];
  const isMeant = ({ hash }: Entry) => hash !== undefined && hash === member(removal, 'valuehash');
  switch (numeric(member(removal, 'action'))) {
    case EVERYTHING:
      entries.clear();
      break;
    case WHOLE_KEY:
      entries.delete(key);
      break;
    case ALL_SUCH_VALUES:
      entries.set(
        key,
        values.filter((entry) => !isMeant(entry)),
      );
      break;
    case ONE_VALUE: {
      const first = values.findIndex(isMeant);
      if (first >= 0) entries.set(key, values.toSpliced(first, 1));
      break;
    }
  }
}

const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [value]);

function member(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>)[key] : undefined;
}

function numeric(value: unknown): number {
  return value instanceof LosslessNumber ? Number(value.value) : Number(value);
}
