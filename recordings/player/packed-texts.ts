/** Keeps many texts compressed in memory; the few chunks read last stay unpacked, so sequential reads are cheap. */
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { LRUCache } from 'lru-cache';

const CHUNK_BYTES = 256 * 1024;
const UNPACKED_CHUNKS = 4;

interface Place {
  readonly chunk: number;
  readonly start: number;
  readonly end: number;
}

export interface PackedTexts {
  /** Returns the id for `get`. */
  add(text: Uint8Array): number;
  get(id: number): string;
}

export function createPackedTexts(): PackedTexts {
  const places: Place[] = [];
  const chunks: Buffer[] = [];
  const unpacked = new LRUCache<number, Buffer>({ max: UNPACKED_CHUNKS });
  let open: Uint8Array[] = [];
  let openBytes = 0;

  function seal(): void {
    if (openBytes === 0) return;
    chunks.push(zstdCompressSync(Buffer.concat(open)));
    open = [];
    openBytes = 0;
  }

  function unpack(index: number): Buffer {
    const held = unpacked.get(index);
    if (held !== undefined) return held;
    if (index === chunks.length) seal();
    const chunk = chunks[index];
    if (chunk === undefined) throw new RangeError(`no chunk ${index}`);
    const bytes = zstdDecompressSync(chunk);
    unpacked.set(index, bytes);
    return bytes;
  }

  return {
    add(text) {
      places.push({ chunk: chunks.length, start: openBytes, end: openBytes + text.length });
      open.push(Uint8Array.from(text)); // a copy: the caller's array may be a view of a whole file
      openBytes += text.length;
      if (openBytes >= CHUNK_BYTES) seal();
      return places.length - 1;
    },
    get(id) {
      const place = places[id];
      if (place === undefined) throw new RangeError(`no text ${id}`);
      return unpack(place.chunk).toString('utf8', place.start, place.end);
    },
  };
}

/** Packed texts by key, read at the first lookup. `read` yields every text; of several with the same key the last counts. */
export function createTextsByKey(
  read: () => Iterable<readonly [key: string, text: string]>,
): (key: string) => string | undefined {
  const texts = createPackedTexts();
  let ids: Map<string, number> | undefined;
  const readAll = () => {
    const all = new Map<string, number>();
    for (const [key, text] of read()) all.set(key, texts.add(Buffer.from(text)));
    return all;
  };
  return (key) => {
    ids ??= readAll();
    const id = ids.get(key);
    return id === undefined ? undefined : texts.get(id);
  };
}
