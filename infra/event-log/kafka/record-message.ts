/** Converts records of the log to Kafka messages and back. The key is the decimal position, so that any Kafka tool shows it. */
import type { Message } from 'kafkajs';
import { asBuffer } from '../../../domain/as-buffer.ts';
import { recordChecksum } from '../checksum.ts';
import type { LogRecord } from '../event-log.ts';
import { LogCorrupt } from '../log-errors.ts';
import type { FetchedMessage } from './topic-leader.ts';

/** A record with its offset at the broker and the writer that appended it. */
export interface StoredRecord extends LogRecord {
  readonly offset: number;
  readonly writer: string;
}

/** Announces that a writer was opened. The writer of the newest message owns the partition. */
export interface WriterOpened {
  readonly position: null;
  readonly offset: number;
  readonly writer: string;
}

const OPENED_KEY = 'writer';

export function recordMessage({ position, payload }: LogRecord, writer: string): Message {
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE(recordChecksum(position, payload));
  return { partition: 0, key: String(position), value: asBuffer(payload), headers: { writer, crc32: checksum } };
}

export function openedMessage(writer: string): Message {
  return { partition: 0, key: OPENED_KEY, value: null, headers: { writer } };
}

/** @throws LogCorrupt if the bytes are not what was written, or were not written by verustream */
export function parseMessage(topic: string, message: FetchedMessage): StoredRecord | WriterOpened {
  const offset = Number(message.offset);
  const key = message.key?.toString() ?? '';
  const writer = headerOf(message, 'writer')?.toString();
  if (writer !== undefined && key === OPENED_KEY) return { position: null, offset, writer };
  const where = `Kafka topic ${topic}, offset ${offset}`;
  const checksum = headerOf(message, 'crc32');
  const payload = message.value;
  if (writer === undefined || !/^\d{1,16}$/.test(key) || payload === null || checksum?.length !== 4) {
    throw new LogCorrupt(
      `${where}: not a record of this log. Only verustream may write to its topics: find out which program did.`,
    );
  }
  const position = Number(key);
  if (recordChecksum(position, payload) === checksum.readUInt32BE()) return { position, payload, offset, writer };
  const advice = 'Restore the topic from a replica or a backup.';
  throw new LogCorrupt(`${where}: record ${position} does not match its checksum. ${advice}`);
}

/** Returns undefined for a repeated header, which only a foreign writer produces. */
function headerOf({ headers }: FetchedMessage, name: string): Buffer | undefined {
  const header = headers[name];
  return Buffer.isBuffer(header) ? header : undefined;
}
