/** Records of the log ↔ bytes: Avro single-object encoding with the schemas of schemas/avro/. */
import { type Packing, pack, STORED_FRAME_BYTES, unpack } from './avro/compression.ts';
import { packFacts, toPlain, unpackFacts } from './avro/fact-list.ts';
import { decodeSingleObject, encodeSingleObject, type SchemaName } from './avro/single-object.ts';
import { PermanentError } from './errors.ts';
import type {
  BlockAppended,
  BlocksRecord,
  ChainRewound,
  FactsAppended,
  FactsRecord,
  FactsRewound,
  StampList,
  StampsAppended,
  StampsCorrected,
  StampsRecord,
  StampsRewound,
} from './log-records.ts';

type Wire<T> = Omit<T, 'kind'>;
type Packed<T> = T & { encoding: string; unpackedBytes: number };

/** Reused for each block: V8 collects garbage after every 32 MiB of new buffers, however short-lived they are. */
const frame = Buffer.alloc(STORED_FRAME_BYTES);

/** @throws PermanentError log_record_too_large for a block above MAX_UNPACKED_BYTES */
export function encodeBlocksRecord(record: BlocksRecord, packing?: Packing): Uint8Array {
  if (record.kind === 'rewind') return encodeSingleObject('ChainRewound', record);
  const { packed, unpackedBytes } = pack(record.block, packing, frame);
  return encodeSingleObject('BlockAppended', { ...record, encoding: 'zstd', unpackedBytes, block: packed });
}

/** @throws PermanentError log_schema_unknown, log_record_unreadable, log_record_too_large */
export function decodeBlocksRecord(bytes: Uint8Array): BlocksRecord {
  const record = readBlocksRecord(bytes);
  if (record.kind === 'rewind') return record;
  const { packed: _, unpackedBytes: __, ...fields } = record;
  return { ...fields, block: unpackBlock(record) };
}

/** A block as it is in the log: large blocks, and on Kafka all blocks, take a fraction of the size of their text. */
export interface PackedBlock extends Omit<BlockAppended, 'block'> {
  readonly packed: Uint8Array;
  /** Bytes of its text. */
  readonly unpackedBytes: number;
}

/** Reads the record without unpacking its block. @throws PermanentError log_schema_unknown, log_record_unreadable */
export function readBlocksRecord(bytes: Uint8Array): PackedBlock | ChainRewound {
  const { schema, value } = decodeSingleObject(bytes);
  if (schema === 'BlockAppended') {
    const { encoding: _, block: packed, ...fields } = value as Packed<Wire<BlockAppended>>;
    return { kind: 'block', ...fields, packed };
  }
  if (schema === 'ChainRewound') return { kind: 'rewind', ...(value as Wire<ChainRewound>) };
  throw misplaced(schema, 'blocks');
}

/** @throws PermanentError log_record_unreadable, log_record_too_large */
export function unpackBlock({ packed, unpackedBytes }: PackedBlock): Buffer {
  return unpack(packed, unpackedBytes);
}

/** @throws PermanentError log_record_invalid for a fact that is not published or an amount beyond int64 */
export function encodeFactsRecord(record: FactsRecord, packing?: Packing): Uint8Array {
  if (record.kind === 'rewind') return encodeSingleObject('FactsRewound', record);
  const { packed, unpackedBytes } = packFacts(record.facts, packing);
  return encodeSingleObject('FactsAppended', { ...record, encoding: 'zstd', unpackedBytes, facts: packed });
}

/** @throws PermanentError log_schema_unknown, log_record_unreadable, log_record_too_large */
export function decodeFactsRecord(bytes: Uint8Array): FactsRecord {
  const { schema, value } = decodeSingleObject(bytes);
  if (schema === 'FactsAppended') {
    const {
      encoding: _,
      unpackedBytes,
      facts,
      ...fields
    } = value as Packed<Wire<Omit<FactsAppended, 'facts'>>> & {
      facts: Uint8Array;
    };
    return { kind: 'facts', ...fields, facts: unpackFacts(facts, unpackedBytes) };
  }
  if (schema === 'FactsRewound') return { kind: 'rewind', ...(value as Wire<FactsRewound>) };
  throw misplaced(schema, 'facts');
}

const NO_STAMPS: StampList = { prices: [], stamps: [] };
const NOTHING = Buffer.alloc(0);

/** Encodes the prices and stamps of a block: equal bytes if and only if equal lists. @throws PermanentError log_record_invalid */
export function encodeStampList(list: StampList): Buffer {
  return list.prices.length + list.stamps.length === 0 ? NOTHING : encodeSingleObject('StampList', list);
}

/** `list` comes from encodeStampList. */
export function encodeStampsAppended(
  record: Omit<StampsAppended, 'kind' | keyof StampList>,
  list: Buffer,
  packing?: Packing,
): Uint8Array {
  const { packed, unpackedBytes } = packList(list, packing);
  return encodeSingleObject('StampsAppended', { ...record, encoding: 'zstd', unpackedBytes, stamps: packed });
}

/** `was` and `now` come from encodeStampList. */
export function encodeStampsCorrected(
  record: Omit<StampsCorrected, 'kind' | 'was' | 'now'>,
  was: Buffer,
  now: Buffer,
  packing?: Packing,
): Uint8Array {
  const before = packList(was, packing);
  const { packed, unpackedBytes } = packList(now, packing);
  return encodeSingleObject('StampsCorrected', {
    ...record,
    encoding: 'zstd',
    wasUnpackedBytes: before.unpackedBytes,
    was: before.packed,
    unpackedBytes,
    stamps: packed,
  });
}

const packList = (list: Buffer, packing?: Packing) =>
  list.length === 0 ? { packed: list, unpackedBytes: 0 } : pack(list, packing);

export function encodeStampsRewound(record: StampsRewound): Uint8Array {
  return encodeSingleObject('StampsRewound', record);
}

/** @throws PermanentError log_schema_unknown, log_record_unreadable, log_record_too_large */
export function decodeStampsRecord(bytes: Uint8Array): StampsRecord {
  const { schema, value } = decodeSingleObject(bytes);
  if (schema === 'StampsAppended') {
    const {
      encoding: _,
      unpackedBytes,
      stamps,
      ...fields
    } = value as Packed<Wire<Omit<StampsAppended, keyof StampList>>> & { stamps: Uint8Array };
    return { kind: 'stamps', ...fields, ...unpackList(stamps, unpackedBytes) };
  }
  if (schema === 'StampsCorrected') {
    const {
      encoding: _,
      wasUnpackedBytes,
      was,
      unpackedBytes,
      stamps,
      ...fields
    } = value as Packed<Wire<Omit<StampsCorrected, 'was' | 'now'>>> & {
      wasUnpackedBytes: number;
      was: Uint8Array;
      stamps: Uint8Array;
    };
    const lists = { was: unpackList(was, wasUnpackedBytes), now: unpackList(stamps, unpackedBytes) };
    return { kind: 'correction', ...fields, ...lists };
  }
  if (schema === 'StampsRewound') return { kind: 'rewind', ...(value as Wire<StampsRewound>) };
  throw misplaced(schema, 'stamps');
}

function unpackList(packed: Uint8Array, unpackedBytes: number): StampList {
  return unpackedBytes === 0 ? NO_STAMPS : decodeStampList(unpack(packed, unpackedBytes));
}

function decodeStampList(bytes: Uint8Array): StampList {
  const { schema, value } = decodeSingleObject(bytes);
  if (schema !== 'StampList') {
    throw new PermanentError('log_record_unreadable', `a ${schema} stands where a StampList belongs`);
  }
  return toPlain(value) as StampList;
}

function misplaced(schema: SchemaName, topic: string): PermanentError {
  const message = `a ${schema} stands in topic ${topic}: two programs write to one log, or the topics were mixed up`;
  return new PermanentError('log_record_unreadable', message);
}
