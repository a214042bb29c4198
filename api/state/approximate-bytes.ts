/** About how much memory a value of plain data takes: what bounds the values that are kept. */

const POINTER_BYTES = 8;
const HEADER_BYTES = 24;

/** Bytes of a value and of all that it holds; what is held twice counts twice. Shapes of objects are shared, so names of members count nothing. */
export function approximateBytes(value: unknown): number {
  if (typeof value === 'string') return HEADER_BYTES + value.length;
  if (typeof value === 'bigint') return HEADER_BYTES;
  if (typeof value !== 'object' || value === null) return POINTER_BYTES;
  if (ArrayBuffer.isView(value)) return HEADER_BYTES + value.byteLength;
  let bytes = HEADER_BYTES;
  const members = value instanceof Map ? [...value].flat() : value instanceof Set ? value : Object.values(value);
  for (const member of members) bytes += POINTER_BYTES + approximateBytes(member);
  return bytes;
}
