/** How much of V8's heap a plain value takes, rather too much than too little: strings count two bytes a character, nothing is shared. */

const SLOT = 8;
const STRING = 24;
const NUMBER = 16;
const BIGINT = 24;
const ARRAY = 32;
const OBJECT = 64;

export function heapBytes(value: unknown): number {
  switch (typeof value) {
    case 'string':
      return STRING + 2 * value.length;
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

function membersBytes(value: object): number {
  let bytes = OBJECT;
  if (ArrayBuffer.isView(value)) return bytes + value.byteLength;
  if (Array.isArray(value)) {
    bytes = ARRAY;
    for (const member of value) bytes += SLOT + heapBytes(member);
    return bytes;
  }
  for (const key in value) bytes += SLOT + heapBytes((value as Record<string, unknown>)[key]);
  return bytes;
}
