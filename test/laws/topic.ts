/** Topics as they stand. */
import type { EventLog, LogRecord } from '../../infra/event-log/event-log.ts';
import { decodeFactsRecord } from '../../schemas/log-codec.ts';
import type { Topic } from '../../schemas/log-records.ts';

export const factsTopic = (log: EventLog, chain: string) => readTopic(log, 'facts', chain);

export async function readTopic(log: EventLog, topic: Topic, chain: string): Promise<readonly LogRecord[]> {
  const records: LogRecord[] = [];
  for (;;) {
    const read = await log.read(topic, chain, records.length, { maxRecords: 10_000, maxBytes: 1 << 26 });
    if (read.length === 0) return records;
    records.push(...read);
  }
}

/** Of each record what it stands for, in words of the blocks topic. */
export function topicOf(records: readonly LogRecord[]): object[] {
  return records.map(({ position, payload }) => {
    const { kind, height, hash, source } = decodeFactsRecord(payload);
    return { kind: kind === 'facts' ? 'block' : kind, height, hash, position, source };
  });
}
