/** Hashes of an identity's content values: a later update may identify a value that it removes by its hash alone. */
import { blake2b } from '@noble/hashes/blake2.js';
import { toAddress } from '../../domain/addresses.ts';
import { type ByteReader, createByteReader, readPushes } from '../decoding/byte-reader.ts';

/** i-address of the key → hash of each value, in the order in which the daemon prints them. */
export type ContentHashes = Readonly<Record<string, readonly string[]>>;

const ID_BYTES = 20;
/** Identities have a multimap from this version on. */
const MULTIMAP_VERSION = 3;
const PERSONAL = new TextEncoder().encode('VerusDefaultHash');

/** `scriptHex` is the script of an `identityprimary` output. Returns null when it is not built like one. */
export function contentHashes(scriptHex: string): ContentHashes | null {
  try {
    const identity = identityBytes(Buffer.from(scriptHex, 'hex'));
    return identity ? readHashes(createByteReader(identity)) : null;
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/** The condition pushes two parameter lists, each of which is a list of pushes: a header with the count of keys, the keys, the data. */
function identityBytes(script: Uint8Array): Uint8Array | undefined {
  const reader = createByteReader(script);
  readPushes(reader);
  const [parameters] = readPushes(reader);
  const [header, ...pushed] = parameters ? readPushes(createByteReader(parameters)) : [];
  return header && pushed[header[3] ?? 0];
}

function readHashes(reader: ByteReader): ContentHashes {
  const version = reader.uint32();
  reader.uint32(); // flags
  skipTexts(reader); // primary addresses
  reader.bytes(4 + ID_BYTES); // minimum of signatures, parent
  reader.bytes(reader.compactSize()); // name
  const hashes: Record<string, string[]> = {};
  if (version < MULTIMAP_VERSION) return hashes;
  for (let keys = reader.compactSize(); keys > 0; keys--) {
    const key = toAddress(reader.bytes(ID_BYTES));
    const own = hashes[key] ?? [];
    for (let values = reader.compactSize(); values > 0; values--) {
      const value = reader.bytes(reader.compactSize());
      // An empty value is not printed.
      if (value.length > 0) own.push(valueHash(value));
    }
    hashes[key] = own;
  }
  return hashes;
}

function skipTexts(reader: ByteReader): void {
  for (let count = reader.compactSize(); count > 0; count--) reader.bytes(reader.compactSize());
}

/** Hash as the daemon prints it: bytes reversed. */
export function valueHash(value: Uint8Array): string {
  const hash = blake2b(value, { dkLen: 32, personalization: PERSONAL });
  return Buffer.from(hash).reverse().toString('hex');
}
