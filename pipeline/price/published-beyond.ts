/** Published records of provisional blocks: per block only a fingerprint that shows whether a new record would be equal. */
import { createHash } from 'node:crypto';

export interface PublishedEntry {
  readonly position: number;
  /** Position of the record with the current content: this one, or the newest correction. */
  readonly latest: number;
  readonly provisional: boolean;
  /** Position of the record of topic `facts` that it follows from. */
  readonly source: number;
  readonly hash: string;
}

export interface PublishedBeyond {
  readonly length: number;
  /** Undefined beyond the end. */
  at(index: number): PublishedEntry | undefined;
  /** Whether the block at `index` was published with exactly this list. */
  isAlike(index: number, hash: string, list: Uint8Array): boolean;
  push(entry: Omit<PublishedEntry, 'latest'>, list: Uint8Array): void;
  /** Records a correction of the block at `index`. */
  correct(index: number, correction: Pick<PublishedEntry, 'latest' | 'provisional'>, list: Uint8Array): void;
  /** Keeps only the first `length` entries. */
  truncate(length: number): void;
  /** Removes the first `count` entries. */
  shift(count: number): void;
}

const POSITION_BYTES = 8;
const HASH_BYTES = 32;
const DIGEST_BYTES = 16;
const SOURCE_AT = POSITION_BYTES;
const LATEST_AT = 2 * POSITION_BYTES;
const PROVISIONAL_AT = 3 * POSITION_BYTES;
const HASH_AT = PROVISIONAL_AT + 1;
const ENTRY_BYTES = HASH_AT + HASH_BYTES + DIGEST_BYTES;
const FIRST_ENTRIES = 64;

export function createPublishedBeyond(): PublishedBeyond {
  let held = Buffer.alloc(FIRST_ENTRIES * ENTRY_BYTES);
  /** In entries. */
  let start = 0;
  let length = 0;

  const offset = (index: number) => (start + index) * ENTRY_BYTES;

  /** Moves the entries to the start of a buffer of twice their size. */
  function makeRoom(): void {
    const wider = Buffer.alloc(Math.max(FIRST_ENTRIES, 2 * length) * ENTRY_BYTES);
    held.copy(wider, 0, offset(0), offset(length));
    held = wider;
    start = 0;
  }

  return {
    get length() {
      return length;
    },
    at(index) {
      if (index < 0 || index >= length) return undefined;
      const from = offset(index);
      return {
        position: held.readDoubleLE(from),
        latest: held.readDoubleLE(from + LATEST_AT),
        provisional: held.readUInt8(from + PROVISIONAL_AT) === 1,
        source: held.readDoubleLE(from + SOURCE_AT),
        hash: held.toString('hex', from + HASH_AT, from + HASH_AT + HASH_BYTES),
      };
    },
    isAlike(index, hash, list) {
      if (index < 0 || index >= length) return false;
      const from = offset(index) + HASH_AT;
      return held.subarray(from, from + HASH_BYTES + DIGEST_BYTES).equals(fingerprint(hash, list));
    },
    push({ position, source, hash, provisional }, list) {
      if (offset(length + 1) > held.length) makeRoom();
      const from = offset(length);
      held.writeDoubleLE(position, from);
      held.writeDoubleLE(source, from + SOURCE_AT);
      held.writeDoubleLE(position, from + LATEST_AT);
      held.writeUInt8(Number(provisional), from + PROVISIONAL_AT);
      held.set(fingerprint(hash, list), from + HASH_AT);
      length++;
    },
    correct(index, { latest, provisional }, list) {
      const from = offset(index);
      held.writeDoubleLE(latest, from + LATEST_AT);
      held.writeUInt8(Number(provisional), from + PROVISIONAL_AT);
      held.set(digestOf(list), from + HASH_AT + HASH_BYTES);
    },
    truncate(to) {
      length = Math.min(length, Math.max(0, to));
    },
    shift(count) {
      const gone = Math.min(count, length);
      start += gone;
      length -= gone;
    },
  };
}

function fingerprint(hash: string, list: Uint8Array): Buffer {
  const bytes = Buffer.from(hash, 'hex');
  if (bytes.length !== HASH_BYTES) throw new TypeError(`a block hash has ${HASH_BYTES} bytes, not ${bytes.length}`);
  return Buffer.concat([bytes, digestOf(list)]);
}

const digestOf = (list: Uint8Array) => createHash('sha256').update(list).digest().subarray(0, DIGEST_BYTES);
