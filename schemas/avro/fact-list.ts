/** Published facts ↔ Avro: each kind is a branch of one union, in the packed bytes of a FactsAppended record. */
import { PermanentError } from '../errors.ts';
import { definitionOf, type Fact, type FactType, PUBLISHED_FACTS } from '../facts.ts';
import { type Packed, type Packing, pack, unpack } from './compression.ts';
import { decodeSingleObject, encodeSingleObject, FACT_LISTS, type SchemaName } from './single-object.ts';

/** `currency_state` → `verustream.CurrencyState`. */
export function branchName(type: FactType): string {
  const words = type.split('_').map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  return `verustream.${words.join('')}`;
}

const BRANCHES = new Map(PUBLISHED_FACTS.map((type) => [type, branchName(type)]));
const TYPES = new Map(PUBLISHED_FACTS.map((type) => [branchName(type), type]));
const READABLE: ReadonlySet<SchemaName> = new Set(FACT_LISTS);

function newestList(): SchemaName {
  const newest = FACT_LISTS.at(-1);
  if (!newest) throw new TypeError('no Avro schema is named FactList');
  return newest;
}

const NEWEST = newestList();

function toBranch(fact: Fact): Record<string, Fact> {
  const branch = BRANCHES.get(fact.type);
  if (branch) return { [branch]: fact };
  const message = `facts of kind ${fact.type} are not published: leave out what PUBLISHED_FACTS does not name`;
  throw new PermanentError('log_record_invalid', message);
}

/** avsc reads records into its own classes; callers get plain objects, like those that processors make. */
export function toPlain(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(toPlain);
  const plain: Record<string, unknown> = {};
  for (const [key, member] of Object.entries(value)) plain[key] = toPlain(member);
  return plain;
}

function fromBranch(branch: object): Fact {
  const [entry] = Object.entries(branch);
  if (!entry) throw new PermanentError('log_record_unreadable', 'a fact of a log record has no kind');
  const [name, fields] = entry;
  const type = TYPES.get(name);
  if (!type) throw new PermanentError('log_record_unreadable', `a fact of a log record is of unknown kind ${name}`);
  return { type, ...definitionOf(type).unsaid, ...(toPlain(fields) as object) } as Fact;
}

/** @throws PermanentError log_record_invalid for a kind that is not published or an amount beyond int64 */
export function packFacts(facts: readonly Fact[], packing?: Packing): Packed {
  return pack(encodeSingleObject(NEWEST, { facts: facts.map(toBranch) }), packing);
}

export function unpackFacts(packed: Uint8Array, unpackedBytes: number): readonly Fact[] {
  const { schema, value } = decodeSingleObject(unpack(packed, unpackedBytes));
  if (READABLE.has(schema)) {
    return (value as { facts: readonly object[] }).facts.map(fromBranch);
  }
  throw new PermanentError('log_record_unreadable', `a ${schema} stands where a FactList belongs`);
}
