/**
 * Reads blocks beyond the line, from any facts record on: first the blocks that wait in the stage's own queues, then the topic, of which
 * only the newest blocks that were read are kept in memory.
 */
import { getOrInsert } from '../../domain/get-or-insert.ts';
import type { TopicReader } from '../../infra/event-log/topic-reader.ts';
import { type PricedBlock, pricedBlock } from '../../processors/pricing/chain-view.ts';
import type { FactsRewound } from '../../schemas/log-records.ts';
import { createKnownRewinds, type KnownRewinds } from './known-rewinds.ts';
import type { ChainCursor } from './price-chain.ts';
import { type DerivedPositions, readLimits } from './read-facts.ts';

export interface AheadRead {
  readonly blocks: readonly PricedBlock[];
  /** Position of the facts record to read next: the given one when there is nothing more. */
  readonly next: number;
  /** A new rewind in the topic, which ends the read: blocks before it may have been removed. */
  readonly rewind: FactsRewound | null;
}

export interface AheadReader {
  /** `cursor` is the stage's own cursor of the chain, which the stage has read as far as it will. */
  read(cursor: ChainCursor, from: number, derived: DerivedPositions): Promise<AheadRead>;
  /** Notes a rewind, whose removed blocks are no longer returned. */
  rewound(chain: string, position: number, height: number): void;
  /** Whether a known rewind removes the block of this record. */
  isVoid(chain: string, position: number, height: number): boolean;
  /** Position of the first record that this reader has not read yet. */
  readTo(chain: string): number;
  /** Blocks held in addition to the stage's own queues. */
  held(): number;
}

interface Recent {
  /** `blocks` has the blocks of the records from here to `next` that no rewind removed. */
  from: number;
  next: number;
  blocks: PricedBlock[];
  /** Greatest `next` so far. */
  readTo: number;
  readonly rewinds: KnownRewinds;
}

export function createAheadReader(
  topics: Pick<TopicReader, 'read'>,
  maxHeld: number,
  yieldToEventLoop: () => Promise<void> | undefined,
): AheadReader {
  const chains = new Map<string, Recent>();

  function recentOf(chain: string): Recent {
    return getOrInsert(chains, chain, () => {
      return { from: 0, next: 0, blocks: [], readTo: 0, rewinds: createKnownRewinds() };
    });
  }

  /** Continues after the blocks in memory. */
  async function readOn(chain: string, recent: Recent, derived: DerivedPositions): Promise<AheadRead> {
    const committed = derived.get(chain)?.position ?? -1;
    const blocks: PricedBlock[] = [];
    let rewind: FactsRewound | null = null;
    for (const entry of await topics.read('facts', chain, recent.next, readLimits(maxHeld))) {
      await yieldToEventLoop();
      const record = entry.record();
      if (record.source > committed) break;
      recent.next = record.position + 1;
      if (record.kind === 'rewind') {
        if (record.position < recent.readTo) continue;
        rewind = record;
        break;
      }
      if (!recent.rewinds.isVoid(record.position, record.height)) blocks.push(pricedBlock(chain, record));
    }
    recent.readTo = Math.max(recent.readTo, recent.next);
    recent.blocks.push(...blocks);
    const surplus = recent.blocks.length - maxHeld;
    if (surplus > 0) {
      recent.blocks.splice(0, surplus);
      recent.from = recent.blocks[0]?.position ?? recent.next;
    }
    return { blocks, next: recent.next, rewind };
  }

  return {
    async read(cursor, from, derived) {
      const chain = cursor.chain.name;
      if (from < cursor.next) return { blocks: since(cursor.queue, from), next: cursor.next, rewind: null };
      if (cursor.isAtEnd) return { blocks: [], next: from, rewind: null };
      const recent = recentOf(chain);
      if (from >= recent.from && from < recent.next) {
        return { blocks: since(recent.blocks, from), next: recent.next, rewind: null };
      }
      if (from !== recent.next) {
        recent.from = from;
        recent.next = from;
        recent.blocks = [];
      }
      return readOn(chain, recent, derived);
    },
    rewound(chain, position, height) {
      const recent = recentOf(chain);
      recent.rewinds.add(position, height);
      recent.blocks = recent.blocks.filter((block) => block.position > position || block.height <= height);
    },
    isVoid: (chain, position, height) => recentOf(chain).rewinds.isVoid(position, height),
    readTo: (chain) => recentOf(chain).readTo,
    held: () => chains.values().reduce((sum, { blocks }) => sum + blocks.length, 0),
  };
}

/** The blocks of records from `from` on; positions ascend. */
function since(blocks: readonly PricedBlock[], from: number): PricedBlock[] {
  const first = blocks.findIndex(({ position }) => position >= from);
  return first < 0 ? [] : blocks.slice(first);
}
