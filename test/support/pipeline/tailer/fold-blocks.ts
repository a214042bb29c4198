/** Folds the `blocks` topic into a chain and checks every record against the rules of the topic. */
import type { EventLog, LogRecord } from '../../../../infra/event-log/event-log.ts';
import { decodeBlocksRecord } from '../../../../schemas/log-codec.ts';
import type { BlockAppended } from '../../../../schemas/log-records.ts';

export interface FoldedChain {
  readonly blocks: readonly BlockAppended[];
  readonly rewinds: readonly { readonly height: number; readonly fromHeight: number }[];
  /** Largest number of blocks from a rewind's target to the highest block before that rewind. */
  readonly deepest: number;
}

/** @throws Error when a position is missing, a block does not follow its predecessor, or a rewind names an unknown block */
export function foldBlocks(records: Iterable<LogRecord>): FoldedChain {
  const blocks: BlockAppended[] = [];
  const rewinds: { height: number; fromHeight: number }[] = [];
  let position = 0;
  let highest = -1;
  let deepest = 0;
  for (const { position: held, payload } of records) {
    const record = decodeBlocksRecord(payload);
    if (held !== position || record.position !== position)
      throw new Error(`position ${held}/${record.position}, not ${position}`);
    position += 1;
    const tip = blocks.at(-1);
    if (record.kind === 'rewind') {
      const { height, hash, fromHeight } = record;
      if (tip?.height !== fromHeight || height >= fromHeight || blocks[height]?.hash !== hash) {
        throw new Error(`position ${held}: cannot rewind from ${fromHeight} to ${height} ${hash}`);
      }
      blocks.length = height + 1;
      rewinds.push({ height, fromHeight });
      deepest = Math.max(deepest, highest - height);
      continue;
    }
    if (record.height !== blocks.length || record.previousHash !== (tip?.hash ?? null)) {
      throw new Error(`position ${held}: block ${record.height} does not follow ${tip?.height}`);
    }
    blocks.push(record);
    highest = Math.max(highest, record.height);
  }
  return { blocks, rewinds, deepest };
}

/** All records of a partition, read in pages. */
export async function readAllBlocks(log: EventLog, chain: string): Promise<readonly LogRecord[]> {
  const records: LogRecord[] = [];
  for (;;) {
    const page = await log.read('blocks', chain, records.length, { maxRecords: 1000, maxBytes: 16 << 20 });
    if (page.length === 0) return records;
    records.push(...page);
  }
}
