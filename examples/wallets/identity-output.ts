/**
 * Reads the contentmultimap as the chain stores it, from the script of an identity's output. getidentity decodes it for reading: if you write
 * that form back, some values become other bytes, and some are silently dropped.
 */
import { sha256 } from '@noble/hashes/sha2.js';
import { createBase58check } from '@scure/base';

/** Maps the i-address of a key to its values in order, in hexadecimal digits. */
export type StoredMap = ReadonlyMap<string, readonly string[]>;

const IDENTITY_PRIMARY = 0x0e;
const CHECK_CRYPTO_CONDITION = 0xcc;
const I_ADDRESS = 102;
const FIRST_VERSION_WITH_MAP = 3;
const base58check = createBase58check(sha256);

/** @throws RangeError when the bytes end too early */
class Bytes {
  #at = 0;
  readonly #bytes: Buffer;
  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  take(length: number): Buffer {
    const end = this.#at + length;
    if (end > this.#bytes.length) throw new RangeError('the output ends before its content');
    const taken = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return taken;
  }

  number(bytes: 1 | 2 | 4): number {
    return this.take(bytes).readUIntLE(0, bytes);
  }

  /** Reads the data of a push opcode. */
  push(): Buffer {
    const opcode = this.number(1);
    const lengths: Readonly<Record<number, 1 | 2 | 4>> = { 76: 1, 77: 2, 78: 4 };
    const bytes = lengths[opcode];
    if (bytes === undefined && opcode > 0x4b) throw new RangeError(`opcode ${opcode} where data is expected`);
    return this.take(bytes === undefined ? opcode : this.number(bytes));
  }

  count(): number {
    const first = this.number(1);
    if (first < 0xfd) return first;
    if (first === 0xff) throw new RangeError('a length above 32 bits');
    return this.number(first === 0xfd ? 2 : 4);
  }

  list<Item>(item: () => Item): Item[] {
    return Array.from({ length: this.count() }, item);
  }

  counted = (): Buffer => this.take(this.count());
}

/** @throws Error when the script is not an identity output */
export function storedMultimap(script: string): StoredMap {
  const outer = new Bytes(Buffer.from(script, 'hex'));
  outer.push(); // the conditions for spending the output
  if (outer.number(1) !== CHECK_CRYPTO_CONDITION) throw new Error('the output is no smart output');
  const inner = new Bytes(outer.push());
  const [, kind, , addresses = 0] = inner.push();
  if (kind !== IDENTITY_PRIMARY) throw new Error('the output holds no identity');
  for (let each = 0; each < addresses; each += 1) inner.push();

  const identity = new Bytes(inner.push());
  const version = identity.number(4);
  identity.take(4); // flags
  identity.list(identity.counted); // primary addresses
  identity.take(4 + 20); // signatures needed, parent
  identity.counted(); // name
  if (version < FIRST_VERSION_WITH_MAP) return new Map();
  return new Map(
    identity.list(() => {
      const key = base58check.encode(Buffer.from([I_ADDRESS, ...identity.take(20)]));
      return [key, identity.list(identity.counted).map((value) => value.toString('hex'))] as const;
    }),
  );
}
