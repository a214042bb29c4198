/** Reads the daemon's serialised bytes; past their end it throws a RangeError. */

export interface ByteReader {
  readonly left: number;
  bytes(count: number): Uint8Array;
  /** Little endian. */
  uint32(): number;
  /** Bitcoin's compact size: one byte, or a marker and two or four bytes; a larger size fits no block and throws. */
  compactSize(): number;
}

export function createByteReader(source: Uint8Array): ByteReader {
  const view = new DataView(source.buffer, source.byteOffset, source.byteLength);
  let at = 0;

  function take(count: number): number {
    if (count > source.length - at) throw new RangeError(`needs ${count} bytes, ${source.length - at} are left`);
    at += count;
    return at - count;
  }

  const reader: ByteReader = {
    get left() {
      return source.length - at;
    },
    bytes(count) {
      const start = take(count);
      return source.subarray(start, at);
    },
    uint32: () => view.getUint32(take(4), true),
    compactSize() {
      const marker = view.getUint8(take(1));
      if (marker < 0xfd) return marker;
      if (marker === 0xfd) return view.getUint16(take(2), true);
      if (marker === 0xfe) return reader.uint32();
      throw new RangeError('a size larger than any block');
    },
  };
  return reader;
}

/** Reads the pushes of a script, up to its end or its first other operation. */
export function readPushes(reader: ByteReader): Uint8Array[] {
  const pushes: Uint8Array[] = [];
  while (reader.left > 0) {
    const [code = 0] = reader.bytes(1);
    const size = pushSize(code, reader);
    if (size === null) break;
    pushes.push(reader.bytes(size));
  }
  return pushes;
}

function pushSize(code: number, reader: ByteReader): number | null {
  if (code < 0x4c) return code;
  const little = (bytes: Uint8Array): number => bytes.reduceRight((sum, byte) => sum * 256 + byte, 0);
  return code <= 0x4e ? little(reader.bytes(2 ** (code - 0x4c))) : null;
}
