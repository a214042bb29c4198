/** Reads the current facts topic. */
import type { EventLog, LogRecord } from '../../infra/event-log/event-log.ts';
import { decodeFactsRecord } from '../../schemas/log-codec.ts';

export async function factsTopic(log: EventLog, chain: string): Promise<readonly LogRecord[]> {
  const records: LogRecord[] = [];
  for (;;) {
    const read = await log.read('facts', chain, records.length, { maxRecords: 10_000, maxBytes: 1 << 26 });
    if (read.length === 0) return records;
    records.push(...read);
  }
}

/** Describes each record in terms of the blocks topic. */
export function topicOf(records: readonly LogRecord[]): object[] {
  return records.map(({ position, payload }) => {
    const { kind, height, hash, source } = decodeFactsRecord(payload);
    return { kind: kind === 'facts' ? 'block' : kind, height, hash, position, source };
  });
}
