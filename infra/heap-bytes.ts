/**
 * Estimates the V8 heap size of a plain value. Tends to overestimate: strings count two bytes per character, and only field names count
 * as shared.
 */

const SLOT = 8;
const STRING = 24;
const NUMBER = 16;
const BIGINT = 24;
const ARRAY = 48;
const OBJECT = 64;
/** Longer keys are data, such as addresses, in an object that is used as a table. */
const LONGEST_FIELD_NAME = 30;
const TABLE_ENTRY = 96;

export function heapBytes(value: unknown): number {
  switch (typeof value) {
    case 'string':
      return stringBytes(value);
    case 'number':
      return NUMBER;
    case 'bigint':
      return BIGINT;
    case 'object':
      return value === null ? 0 : membersBytes(value);
    default:
      return 0;
  }
}

const stringBytes = (text: string): number => STRING + 2 * text.length;

function membersBytes(value: object): number {
  if (Array.isArray(value)) return value.reduce((bytes: number, member) => bytes + SLOT + heapBytes(member), ARRAY);
  let bytes = OBJECT;
  for (const [key, member] of Object.entries(value)) {
    bytes += SLOT + heapBytes(member);
    if (key.length > LONGEST_FIELD_NAME) bytes += TABLE_ENTRY + stringBytes(key);
  }
  return bytes;
}
