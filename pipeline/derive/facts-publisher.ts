/** Publishes the facts topic of a chain: one record for each record of blocks, in the same order. */
import type { EventLog, LogRecord } from '../../infra/event-log/event-log.ts';
import { LogConflict } from '../../infra/event-log/log-errors.ts';
import type { TopicReader } from '../../infra/event-log/topic-reader.ts';
import type { StagePosition } from '../../infra/postgres/stage-positions.ts';
import type { Packing } from '../../schemas/avro/compression.ts';
import { type Fact, PUBLISHED_FACTS } from '../../schemas/facts.ts';
import { decodeFactsRecord, encodeFactsRecord } from '../../schemas/log-codec.ts';
import type { ChainRewound, FactsRecord } from '../../schemas/log-records.ts';
import type { DerivedBlock } from '../sinks/derived-block.ts';
import { createYield } from '../stage/yield-to-event-loop.ts';
import { FactsBehindStores } from './derive-errors.ts';

export interface FactsPublisher {
  /**
   * append() and rewind() continue where the topic ends and skip records that it already has from an uncommitted batch. `committed` is
   * the current position of the stores.
   */
  append(blocks: readonly DerivedBlock[], committed: StagePosition | null): Promise<void>;
  rewind(record: ChainRewound, committed: StagePosition | null): Promise<void>;
  /**
   * Publishes that the stores were rewound to `committed` without a record of the log; later blocks are published again.
   * Idempotent.
   */
  publishRewind(committed: StagePosition | null): Promise<void>;
  close(): Promise<void>;
}

type Draft = FactsRecord extends infer R ? (R extends FactsRecord ? Omit<R, 'position'> : never) : never;

const BEFORE_GENESIS = { position: -1, height: -1, hash: '' };
const PUBLISHED = new Set<string>(PUBLISHED_FACTS);
const isPublished = (fact: Fact): boolean => PUBLISHED.has(fact.type);

async function lastRecord(log: EventLog, chain: string): Promise<FactsRecord | null> {
  const newest = await log.last('facts', chain);
  return newest ? decodeFactsRecord(newest.payload) : null;
}

/**
 * Becomes the topic's only writer; `committed` is the position of the stores. `readers` get each appended record.
 * @throws FactsBehindStores
 */
export async function openFactsPublisher(
  log: EventLog,
  chain: string,
  committed: StagePosition | null,
  readers?: Pick<TopicReader, 'hold'>,
): Promise<FactsPublisher> {
  const writer = await log.openWriter('facts', chain);
  const last = await lastRecord(log, chain).catch(async (error: unknown) => {
    await writer.close();
    throw error;
  });
  const stored = committed?.position ?? -1;
  const expired = last === null && writer.next > 0; // retention has deleted all records
  if (!expired && (last?.source ?? -1) < stored) {
    await writer.close();
    throw new FactsBehindStores(chain, stored, last?.source ?? -1);
  }
  /** Position of a record minus its source: the same for all records since the topic was last rewound. */
  let shift = last ? last.position - last.source : writer.next - (stored + 1);
  let newestHeight = last?.height ?? -1;
  const { kind: newestKind, source: newestSource } = last ?? {};

  async function append(records: readonly FactsRecord[]): Promise<void> {
    await writer.append(await encode(records, writer.packing));
    if (!readers) return;
    const yieldToEventLoop = createYield();
    for (const record of records) {
      readers.hold('facts', chain, record);
      await yieldToEventLoop();
    }
  }

  async function write(drafts: readonly Draft[], committed: StagePosition | null): Promise<void> {
    try {
      await append(at(drafts, shift));
    } catch (error) {
      if (!(error instanceof LogConflict)) throw error;
      // Another version of the program published these blocks without committing them: rewind its records first.
      const position = writer.next;
      shift = position + 1 - firstSource(drafts);
      await append([{ ...rewindDraft(committed), position }, ...at(drafts, shift)]);
    }
    const written = drafts.at(-1);
    if (written && written.source + shift === writer.next - 1) newestHeight = written.height;
  }

  function rewindDraft(committed: StagePosition | null): Draft {
    const { position, height, hash } = committed ?? BEFORE_GENESIS;
    return { kind: 'rewind', source: position, height, hash, fromHeight: newestHeight };
  }

  return {
    append: (blocks, committed) =>
      write(
        blocks.map(({ position, height, block, facts }) => ({
          kind: 'facts',
          source: position,
          height,
          hash: block.hash,
          facts: facts.filter(isPublished),
        })),
        committed,
      ),
    rewind: ({ position, height, hash, fromHeight }, committed) =>
      write([{ kind: 'rewind', source: position, height, hash, fromHeight }], committed),
    async publishRewind(committed) {
      const draft = rewindDraft(committed);
      const isSaid = newestKind === 'rewind' && newestSource === draft.source && newestHeight === draft.height;
      if (isSaid || writer.next === 0) return;
      const position = writer.next;
      await append([{ ...draft, position }]);
      shift = position - draft.source;
      newestHeight = draft.height;
    },
    close: () => writer.close(),
  };
}

function at(drafts: readonly Draft[], shift: number): FactsRecord[] {
  return drafts.map((draft) => ({ ...draft, position: draft.source + shift }));
}

async function encode(records: readonly FactsRecord[], packing: Packing): Promise<LogRecord[]> {
  const yieldToEventLoop = createYield();
  const encoded: LogRecord[] = [];
  for (const record of records) {
    encoded.push({ position: record.position, payload: encodeFactsRecord(record, packing) });
    await yieldToEventLoop();
  }
  return encoded;
}

function firstSource(drafts: readonly Draft[]): number {
  const [first] = drafts;
  if (!first) throw new RangeError('nothing to publish');
  return first.source;
}
