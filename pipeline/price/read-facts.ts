/** Reads the facts topics for the price stage, up to derive's commits in Postgres. */
import type { ReadLimits } from '../../infra/event-log/event-log.ts';
import type { TopicReader } from '../../infra/event-log/topic-reader.ts';
import type { Postgres } from '../../infra/postgres/postgres.ts';
import { readStagePositions, type StagePosition } from '../../infra/postgres/stage-positions.ts';
import { pricedBlock } from '../../processors/pricing/chain-view.ts';
import type { FactsRewound } from '../../schemas/log-records.ts';
import { type ChainCursor, isWithheld } from './price-chain.ts';

/** Derive's committed position, by chain. */
export type DerivedPositions = ReadonlyMap<string, Pick<StagePosition, 'position' | 'height'>>;

const MAX_BYTES = 16 * 1024 * 1024;
const MAX_RECORDS = 1000;

export function readDerived({ pool }: Postgres): Promise<DerivedPositions> {
  return readStagePositions(pool, 'derive');
}

export interface ReadResult {
  readonly records: number;
  /** A rewind ends the read: the caller undoes the affected ticks and continues reading. */
  readonly rewind: FactsRewound | null;
}

/** Limits of one read. */
export function readLimits(maxQueued: number): ReadLimits {
  return { maxRecords: Math.min(MAX_RECORDS, maxQueued), maxBytes: MAX_BYTES };
}

/** Appends committed blocks to the cursor's queue, up to the first rewind, except blocks that `isVoid` knows to be removed. */
export async function readFacts(
  topics: Pick<TopicReader, 'read'>,
  cursor: ChainCursor,
  derived: DerivedPositions,
  maxQueued: number,
  isVoid: (chain: string, position: number, height: number) => boolean,
  yieldToEventLoop: () => Promise<void> | undefined,
): Promise<ReadResult> {
  const { name } = cursor.chain;
  const committed = derived.get(name);
  cursor.derivedHeight = committed?.height ?? null;
  cursor.isAtEnd = !committed;
  if (!committed) return { records: 0, rewind: null };
  if (isWithheld(cursor) && (cursor.withheld?.source ?? 0) > committed.position) {
    cursor.isAtEnd = true;
    return { records: 0, rewind: null };
  }
  let count = 0;
  for (const entry of await topics.read('facts', name, cursor.next, readLimits(maxQueued))) {
    await yieldToEventLoop();
    const record = entry.record();
    if (record.source > committed.position) {
      cursor.withheld = { position: record.position, source: record.source };
      break;
    }
    cursor.next = record.position + 1;
    count++;
    if (record.kind === 'rewind') return { records: count, rewind: record };
    // On another branch than the stores there is nothing to fold: a later rewind removes these blocks.
    if (cursor.view && !isVoid(name, record.position, record.height)) cursor.queue.push(pricedBlock(name, record));
  }
  cursor.isAtEnd = count === 0;
  return { records: count, rewind: null };
}
