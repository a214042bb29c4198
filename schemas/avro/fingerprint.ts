/** CRC-64-AVRO (Rabin) of a schema's Parsing Canonical Form: names the schema in single-object encoding. */

const EMPTY = 0xc15d213aa4d7a795n;

const TABLE = Array.from({ length: 256 }, (_, byte) => {
  let entry = BigInt(byte);
  for (let bit = 0; bit < 8; bit += 1) entry = entry & 1n ? (entry >> 1n) ^ EMPTY : entry >> 1n;
  return entry;
});

/** Returns the 64-bit fingerprint that the Avro specification defines, as in the header: 8 bytes, little-endian. */
export function crc64Avro(text: string): Buffer {
  let crc = EMPTY;
  for (const byte of Buffer.from(text)) crc = (crc >> 8n) ^ (TABLE[Number((crc ^ BigInt(byte)) & 0xffn)] ?? 0n);
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(crc);
  return bytes;
}
