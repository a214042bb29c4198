/**
 * Prints digests of the first chain's stores and topics as JSON. A separate program, because the embedded engine opens one data folder per
 * process.
 */
import { createHash } from 'node:crypto';
import { openResources } from '../../commands/open-resources.ts';
import { loadConfig } from '../../infra/config/load-config.ts';
import type { EventLog, LogRecord } from '../../infra/event-log/event-log.ts';
import { createLogger } from '../../infra/logger.ts';
import { decodeBlocksRecord, decodeFactsRecord } from '../../schemas/log-codec.ts';
import type { Topic } from '../../schemas/log-records.ts';
import { storeDigests } from '../support/pipeline/verify/all-store-digests.ts';

const config = loadConfig(process.env);
const { stores, log, close } = await openResources(config, createLogger('error', 'stderr'));
const chain = config.chains[0]?.name ?? '';
const digests = await storeDigests(stores, chain);
const blocks = await everyRecord(log, 'blocks');
const facts = await everyRecord(log, 'facts');
await close();
console.log(JSON.stringify({ digests, records: blocks.length, ...topicFacts(blocks, facts) }));

async function everyRecord(from: EventLog, topic: Topic): Promise<LogRecord[]> {
  const records: LogRecord[] = [];
  for (;;) {
    const read = await from.read(topic, chain, records.length, { maxRecords: 1000, maxBytes: 1 << 24 });
    if (read.length === 0) return records;
    records.push(...read);
  }
}

/** @throws Error unless each record of `blocks` has exactly one of `facts`, in order */
function topicFacts(blocksRecords: readonly LogRecord[], factsRecords: readonly LogRecord[]) {
  const surviving = new Map<number, string>();
  let rewinds = 0;
  for (const [index, { payload }] of factsRecords.entries()) {
    const record = decodeFactsRecord(payload);
    const source = blocksRecords[index];
    const block = source && decodeBlocksRecord(source.payload);
    if (record.source !== index || block?.hash !== record.hash || block.height !== record.height) {
      throw new Error(`record ${index} of facts is of block record ${record.source}, ${record.height} ${record.hash}`);
    }
    if (record.kind === 'rewind') {
      rewinds++;
      for (let height = record.fromHeight; height > record.height; height--) surviving.delete(height);
    } else {
      if (surviving.has(record.height)) throw new Error(`height ${record.height} stands twice in facts`);
      surviving.set(record.height, digest(record.facts));
    }
  }
  if (factsRecords.length !== blocksRecords.length) {
    throw new Error(`${blocksRecords.length} records of blocks, ${factsRecords.length} of facts`);
  }
  return { heights: surviving.size, rewinds, factsOfBlocks: digest([...surviving.values()]) };
}

function digest(value: unknown): string {
  const text = JSON.stringify(value, (_, member) => (typeof member === 'bigint' ? `${member}n` : member));
  return createHash('sha256').update(text).digest('hex');
}
