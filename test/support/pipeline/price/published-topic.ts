/** Reads the stamps topic and checks it: every record follows the previous one, and only published records are retracted or corrected. */
import { isDeepStrictEqual } from 'node:util';
import type { EventLog } from '../../../../infra/event-log/event-log.ts';
import { decodeStampsRecord } from '../../../../schemas/log-codec.ts';
import type { StampsAppended, StampsRecord } from '../../../../schemas/log-records.ts';

export async function stampsTopic(log: Pick<EventLog, 'read'>, chain: string): Promise<StampsRecord[]> {
  const records: StampsRecord[] = [];
  for (;;) {
    const read = await log.read('stamps', chain, records.length, { maxRecords: 10_000, maxBytes: 1 << 26 });
    if (read.length === 0) return records;
    records.push(...read.map(({ payload }) => decodeStampsRecord(payload)));
  }
}

/** Returns the blocks that are valid after all records. @throws Error when a record does not follow */
export function readThrough(records: readonly StampsRecord[]): StampsAppended[] {
  const publishedBlocks: StampsAppended[] = [];
  for (const [index, record] of records.entries()) {
    const newest = publishedBlocks.at(-1);
    const fault = (what: string) => new Error(`record ${index} (${record.kind} ${record.height}): ${what}`);
    if (record.position !== index) throw fault(`has the position ${record.position}`);
    if (record.kind === 'stamps') {
      if (newest && record.height !== newest.height + 1) throw fault(`follows ${newest.height}`);
      publishedBlocks.push(record);
      continue;
    }
    if (record.kind === 'correction') {
      const place = record.height - (publishedBlocks[0]?.height ?? 0);
      const corrected = publishedBlocks[place];
      if (corrected?.hash !== record.hash) throw fault('corrects a block that is not on the chain');
      const { prices, stamps, provisional } = corrected;
      if (!isDeepStrictEqual([record.was, record.wasProvisional], [{ prices, stamps }, provisional])) {
        throw fault('replaces what was not published');
      }
      if (isDeepStrictEqual([record.was, record.wasProvisional], [record.now, record.provisional])) {
        throw fault('changes nothing');
      }
      publishedBlocks[place] = { ...corrected, ...record.now, provisional: record.provisional };
      continue;
    }
    if (!newest || record.fromHeight !== newest.height || record.height >= newest.height) {
      throw fault(`rewinds from ${record.fromHeight}, but the tip is ${newest?.height}`);
    }
    while ((publishedBlocks.at(-1)?.height ?? -1) > record.height) publishedBlocks.pop();
    const kept = publishedBlocks.at(-1);
    if (kept && (kept.height !== record.height || kept.hash !== record.hash)) throw fault('keeps another block');
  }
  return publishedBlocks;
}
