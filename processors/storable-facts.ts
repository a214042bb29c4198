/** Facts that no store or topic could hold are a fault of what they were derived from. */
import { PermanentError } from '../schemas/errors.ts';
import type { Fact, FactType } from '../schemas/facts.ts';

/** A value is missing, or outside of what its column holds. */
export class UnstorableFact extends PermanentError {
  constructor(type: FactType, field: string, value: unknown) {
    super('unstorable', `${field} of a ${type} cannot be ${describe(value)}`);
  }
}

const INT4_MAX = 2 ** 31 - 1;
const INT64_MAX = 2n ** 63n - 1n;
const UINT32_MAX = 2 ** 32 - 1;
const HEX = /^(?:[0-9a-f]{2})*$/;
const NUMBER = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** Integers of more than 31 bits; every other number fits int4 and is not negative. */
const WIDE: ReadonlyMap<string, number> = new Map([
  ['version', Number.MAX_SAFE_INTEGER],
  ['lockTime', Number.MAX_SAFE_INTEGER],
  ['timelock', Number.MAX_SAFE_INTEGER],
  ['time', UINT32_MAX],
  ['clock', UINT32_MAX],
  ['window', UINT32_MAX],
  ['requestTime', UINT32_MAX],
  ['importTime', UINT32_MAX],
]);
const SIGNED = new Set(['version', 'timelock', 'lockTime']);
const HEX_FIELDS = new Set(
  'hash previousHash merkleRoot chainWork chainStake txid sourceTxid exportTxid importTxid'.split(' '),
);
/** A sum over all time, kept as numeric. */
const UNBOUNDED = new Set(['balance received']);

/** Facts without values of their own: what they hold was looked at where the block was read. */
const CHECKED: ReadonlySet<FactType> = new Set(['spend', 'dead_letter']);

/** @throws UnstorableFact */
export function assertStorable(facts: readonly Fact[]): void {
  for (const fact of facts) {
    if (CHECKED.has(fact.type)) continue;
    for (const field in fact) check(fact.type, field, fact[field as keyof Fact] as unknown);
  }
}

function check(type: FactType, field: string, value: unknown): void {
  if (value === null) return;
  switch (typeof value) {
    case 'string':
      if (isText(field, value)) return;
      break;
    case 'number':
      if (isInteger(field, value)) return;
      break;
    case 'bigint':
      if ((value <= INT64_MAX && value >= -INT64_MAX) || UNBOUNDED.has(`${type} ${field}`)) return;
      break;
    case 'object':
      if (Array.isArray(value)) for (const item of value) check(type, field, item);
      else for (const [key, member] of Object.entries(value as object)) check(type, keyOf(type, field, key), member);
      return;
  }
  throw new UnstorableFact(type, field, value);
}

/** Members of the maps of amounts are keys themselves. */
function keyOf(type: FactType, field: string, key: string): string {
  if (key === '' || /[\n\0]/.test(key)) throw new UnstorableFact(type, field, key);
  return key;
}

function isText(field: string, text: string): boolean {
  if (HEX_FIELDS.has(field)) return HEX.test(text);
  return field === 'difficulty' ? NUMBER.test(text) : !text.includes('\0');
}

function isInteger(field: string, value: number): boolean {
  if (!Number.isSafeInteger(value) || value > (WIDE.get(field) ?? INT4_MAX)) return false;
  return value >= 0 || SIGNED.has(field);
}

function describe(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value.slice(0, 80)) : String(value);
}
