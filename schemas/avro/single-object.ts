/** Avro single-object encoding: C3 01, the schema's fingerprint, the value. Schemas are the .avsc files of this folder. */
import { readFileSync } from 'node:fs';
import avsc, { type Schema, type Type } from 'avsc';
import { asBuffer } from '../../domain/as-buffer.ts';
import { PermanentError } from '../errors.ts';
import { crc64Avro } from './fingerprint.ts';
import { satoshisHook } from './satoshis.ts';

/** One entry per file. A schema in use is never edited: a change is a new file with a new name, listed after the old one, which stays. */
const SCHEMA_FILES = {
  BlockAppended: 'block-appended.avsc',
  ChainRewound: 'chain-rewound.avsc',
  FactsAppended: 'facts-appended.avsc',
  FactsRewound: 'facts-rewound.avsc',
  FactList: 'fact-list.avsc',
  FactList2: 'fact-list-2.avsc',
  StampsAppended: 'stamps-appended.avsc',
  StampsRewound: 'stamps-rewound.avsc',
  StampList: 'stamp-list.avsc',
  StampsCorrected: 'stamps-corrected.avsc',
} as const;

export type SchemaName = keyof typeof SCHEMA_FILES;

export interface SingleObject {
  readonly schema: SchemaName;
  readonly value: unknown;
}

interface Codec {
  readonly name: SchemaName;
  readonly header: Buffer;
  readonly type: Type;
}

const MARKER = Buffer.from([0xc3, 0x01]);
const HEADER_BYTES = 10;

/** Reused for every record; encodeSingleObject returns a copy. avsc's own buffer is so small that it writes most records twice. */
let scratch = Buffer.alloc(64 * 1024);

function loadCodec(name: SchemaName): Codec {
  const schema = schemaFile(name).schema as Schema;
  const canonicalForm = JSON.stringify(avsc.Type.forSchema(schema).schema());
  const type = avsc.Type.forSchema(schema, { typeHook: satoshisHook, omitRecordMethods: true });
  return { name, header: Buffer.concat([MARKER, crc64Avro(canonicalForm)]), type };
}

const NAMES = Object.keys(SCHEMA_FILES) as SchemaName[];
const codecs = Object.fromEntries(NAMES.map((name) => [name, loadCodec(name)])) as Readonly<Record<SchemaName, Codec>>;

type FactListName = Extract<SchemaName, `FactList${string}`>;
/** Oldest first: records are written with the last one and read with any. */
export const FACT_LISTS = NAMES.filter((name): name is FactListName => name.startsWith('FactList'));

const byHeader = new Map(Object.values(codecs).map((codec) => [codec.header.toString('hex'), codec]));

/** Returns the schema as it is in its file. */
export function schemaFile(name: SchemaName): { readonly file: string; readonly schema: unknown } {
  const file = SCHEMA_FILES[name];
  return { file, schema: JSON.parse(readFileSync(new URL(file, import.meta.url), 'utf8')) };
}

/** Returns the schema's 8 fingerprint bytes in hex, in the order of an encoded record. */
export function schemaFingerprint(schema: SchemaName): string {
  return codecs[schema].header.toString('hex', MARKER.length);
}

/** @throws PermanentError log_record_invalid when the value does not fit the schema */
export function encodeSingleObject(schema: SchemaName, value: unknown): Buffer {
  const { header, type } = codecs[schema];
  try {
    let end = type.encode(value, scratch, HEADER_BYTES);
    if (end < 0) {
      // encode() returns the missing bytes as a negative number.
      scratch = Buffer.alloc(2 * (scratch.length - end));
      end = type.encode(value, scratch, HEADER_BYTES);
    }
    header.copy(scratch);
    return Buffer.from(scratch.subarray(0, end));
  } catch (cause) {
    const message = `a value does not fit the Avro schema ${schema}: ${String(cause)}. This is a bug: report it.`;
    throw new PermanentError('log_record_invalid', message, { cause });
  }
}

/** @throws PermanentError log_schema_unknown, log_record_unreadable */
export function decodeSingleObject(bytes: Uint8Array): SingleObject {
  const buffer = asBuffer(bytes);
  const header = buffer.toString('hex', 0, HEADER_BYTES);
  const codec = byHeader.get(header);
  if (!codec) {
    const isAvro = buffer.indexOf(MARKER) === 0 && buffer.length >= HEADER_BYTES;
    const what = isAvro ? `fingerprint ${header.slice(4)}` : `no single-object header (it begins with ${header})`;
    const advice = 'It was written by another version of verustream, or by something else: run the newest version.';
    throw new PermanentError('log_schema_unknown', `a log record has ${what}, which no known schema has. ${advice}`);
  }
  try {
    return { schema: codec.name, value: codec.type.fromBuffer(buffer.subarray(HEADER_BYTES)) };
  } catch (cause) {
    const message = `a log record of ${buffer.length} bytes is not a whole ${codec.name}: ${String(cause)}`;
    throw new PermanentError('log_record_unreadable', message, { cause });
  }
}
