/** Published facts ↔ Avro: each kind is a branch of one union, in the packed bytes of a FactsAppended record. */
import { PermanentError } from '../errors.ts';
import type { Fact, FactType } from '../facts.ts';
import { type Packed, pack, unpack } from './compression.ts';
import { decodeSingleObject, encodeSingleObject } from './single-object.ts';

const BRANCHES: Partial<Record<FactType, string>> = {
  block: 'verustream.Block',
  transaction: 'verustream.Transaction',
  activity: 'verustream.Activity',
  identity: 'verustream.Identity',
  currency: 'verustream.Currency',
  currency_state: 'verustream.CurrencyState',
  transfer: 'verustream.Transfer',
  reserve_snapshot: 'verustream.ReserveSnapshot',
};

/** What the first FactList did not say. */
const UNSAID: Partial<Record<FactType, object>> = {
  block: { transparentChange: 0n, shieldedSupply: null },
  identity: { registration: null, contentHashes: null },
  transfer: { importSystemId: null, sourceSystemId: null, exportIndex: null },
};

const TYPES = new Map(Object.entries(BRANCHES).map(([type, branch]) => [branch, type as FactType]));

function toBranch(fact: Fact): Record<string, Fact> {
  const branch = BRANCHES[fact.type];
  if (branch) return { [branch]: fact };
  const message = `facts of kind ${fact.type} are not published: leave out what PUBLISHED_FACTS does not name`;
  throw new PermanentError('log_record_invalid', message);
}

/** avsc reads records into classes of its own; callers get plain objects, as a processor makes them. */
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
  return { type, ...UNSAID[type], ...(toPlain(fields) as object) } as Fact;
}

/** @throws PermanentError log_record_invalid for a kind that is not published or an amount beyond int64 */
export function packFacts(facts: readonly Fact[]): Packed {
  return pack(encodeSingleObject('FactList2', { facts: facts.map(toBranch) }));
}

export function unpackFacts(packed: Uint8Array, unpackedBytes: number): readonly Fact[] {
  const { schema, value } = decodeSingleObject(unpack(packed, unpackedBytes));
  if (schema === 'FactList' || schema === 'FactList2') {
    return (value as { facts: readonly object[] }).facts.map(fromBranch);
  }
  throw new PermanentError('log_record_unreadable', `a ${schema} stands where a FactList belongs`);
}
