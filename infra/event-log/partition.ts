/** Names of partitions, and the checks that both implementations run before an append. */
import { PermanentError } from '../../schemas/errors.ts';
import type { Topic } from '../../schemas/log-records.ts';
import type { LogRecord } from './event-log.ts';
import { MAX_RECORD_BYTES } from './limits.ts';
import { LogConflict, LogGap, LogRecordTooLarge } from './log-errors.ts';

const CHAIN_NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/;

/** Returns a name such as `blocks/vrsc`. @throws PermanentError log_chain_name: the chain also names a file and a Kafka topic */
export function partitionName(topic: Topic, chain: string): string {
  if (CHAIN_NAME.test(chain)) return `${topic}/${chain}`;
  const allowed = 'lower-case letters, digits, - and _, at most 64, a letter or digit first';
  throw new PermanentError('log_chain_name', `${JSON.stringify(chain)} cannot name a chain in the log: ${allowed}`);
}

/** @throws LogGap if the records are not consecutive or begin above `next`, LogRecordTooLarge */
export function checkAppend(partition: string, records: readonly LogRecord[], next: number): void {
  let expected = records[0]?.position ?? next;
  if (expected > next || expected < 0 || !Number.isSafeInteger(expected)) {
    throw new LogGap(`record ${expected} cannot be appended to ${partition}: the next position is ${next}`);
  }
  for (const { position, payload } of records) {
    if (position !== expected) {
      throw new LogGap(
        `records to append to ${partition} are not consecutive: found ${position} where ${expected} belongs`,
      );
    }
    if (payload.byteLength > MAX_RECORD_BYTES) {
      throw new LogRecordTooLarge(partition, position, payload.byteLength, MAX_RECORD_BYTES);
    }
    expected += 1;
  }
}

/** @throws LogConflict if `record` differs from the stored record at its position */
export function checkHeld(partition: string, record: LogRecord, held: LogRecord | undefined): void {
  if (held?.position === record.position && Buffer.compare(held.payload, record.payload) === 0) return;
  throw new LogConflict(partition, record.position);
}
