/** Checks that every fact fits its columns and its branch in the topic; a fact that does not is a fault of its block. */
import { MOST_SATOSHIS } from '../../domain/satoshi.ts';
import { PermanentError } from '../../schemas/errors.ts';
import type { Field, Fields } from '../../schemas/facts/fields.ts';
import { FACTS, type Fact, type FactType } from '../../schemas/facts.ts';
import { isKey } from './redact.ts';

/** A value is missing, or outside the range of its column. */
class InvalidFact extends PermanentError {
  constructor(type: FactType, field: string, value: unknown) {
    super('unstorable', `${field} of a ${type} cannot be ${describe(value)}`);
  }
}

const HEX = /^(?:[0-9a-f]{2})*$/;
const NUMERAL = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** The fields to check by type. For the most frequent types, readable-block.ts has checked the others. */
const CHECKED = new Map<string, readonly (readonly [string, Field])[]>(
  FACTS.map(({ type, fields, checked }) => [
    type,
    Object.entries(fields).filter(([name]) => checked?.includes(name) ?? true),
  ]),
);

/** @throws InvalidFact */
export function validateFacts(facts: readonly Fact[]): void {
  for (const fact of facts) {
    const values = fact as unknown as Readonly<Record<string, unknown>>;
    for (const [name, field] of CHECKED.get(fact.type) ?? []) check(fact.type, name, field, values[name]);
  }
}

function check(type: FactType, name: string, field: Field, value: unknown): void {
  if (value === null && field.nullable) return;
  if (!isOfSort(field, value)) throw new InvalidFact(type, name, value);
  switch (field.sort) {
    case 'list':
      for (const item of value as readonly unknown[]) {
        if (!isObject(item)) throw new InvalidFact(type, name, item);
        checkMembers(type, field.members, item);
      }
      break;
    case 'detail':
      checkMembers(type, field.members, value as object);
      break;
    case 'amounts':
      checkEntries(type, name, value as object, isAmount);
      break;
    case 'flows':
      checkEntries(type, name, value as object, isFlow);
      break;
  }
}

function checkMembers(type: FactType, members: Fields, value: object): void {
  const values = value as Readonly<Record<string, unknown>>;
  for (const name in members) {
    const field = members[name];
    if (field) check(type, name, field, values[name]);
  }
}

function checkEntries(type: FactType, name: string, entries: object, isValue: (value: unknown) => boolean): void {
  for (const [key, value] of Object.entries(entries)) {
    if (!isKey(key)) throw new InvalidFact(type, name, key);
    if (!isValue(value)) throw new InvalidFact(type, key, value);
  }
}

/** Does not check the elements of lists, details and maps. */
function isOfSort(field: Field, value: unknown): boolean {
  switch (field.sort) {
    case 'text':
    case 'json':
      return isText(value);
    case 'hash':
      return typeof value === 'string' && HEX.test(value);
    case 'numeral':
      return typeof value === 'string' && NUMERAL.test(value);
    case 'choice':
      return field.values.includes(value as string);
    case 'choices':
      return Array.isArray(value) && value.every((item) => field.values.includes(item));
    case 'texts':
      return Array.isArray(value) && value.every(isText);
    case 'integer':
    case 'seconds':
      return Number.isSafeInteger(value) && (value as number) >= field.min && (value as number) <= field.max;
    case 'satoshis':
      return isAmount(value);
    case 'sum':
      return typeof value === 'bigint';
    case 'list':
      return Array.isArray(value);
    case 'amounts':
    case 'flows':
    case 'detail':
      return isObject(value) && !Array.isArray(value);
    default:
      throw new TypeError(`unknown field: ${field satisfies never}`);
  }
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;
const isText = (value: unknown): boolean => typeof value === 'string' && !value.includes('\0');
const isAmount = (value: unknown): boolean =>
  typeof value === 'bigint' && value <= MOST_SATOSHIS && value >= -MOST_SATOSHIS;
const isFlow = (value: unknown): boolean =>
  isObject(value) && 'received' in value && 'sent' in value && isAmount(value.received) && isAmount(value.sent);

function describe(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value.slice(0, 80)) : String(value);
}
