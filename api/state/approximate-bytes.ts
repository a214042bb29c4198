/** Estimates the memory of plain data, to bound caches. */

const POINTER_BYTES = 8;
const HEADER_BYTES = 24;

/** Counts the bytes of a value and everything in it; shared parts count each time, names of members not at all, as shapes are shared. */
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
