/**
 * Writes the topic `stamps`: one record for each priced block, one for each block whose prices or stamps have changed, and one that
 * retracts blocks that are no longer valid. Records beyond the complete ticks, from a crash or from provisional prices, are compared with
 * the current values, and only differences are published. docs/decisions/0020-prices-in-the-stream.md, 0053-corrections-in-the-stream.md.
 */

import type { PoolClient } from 'pg';
import type { BlockRef } from '../../domain/block-ref.ts';
import type { EventLog, LogRecord, LogWriter } from '../../infra/event-log/event-log.ts';
import { LogGap } from '../../infra/event-log/log-errors.ts';
import type { TopicReader } from '../../infra/event-log/topic-reader.ts';
import { readStagePositions, saveStagePositions } from '../../infra/postgres/stage-positions.ts';
import { hexParam } from '../../infra/postgres/values.ts';
import {
  encodeStampList,
  encodeStampsAppended,
  encodeStampsCorrected,
  encodeStampsRewound,
} from '../../schemas/log-codec.ts';
import type { StampList, StampsRewound } from '../../schemas/log-records.ts';
import type { StageLock } from '../stage/stage-lock.ts';
import { createYield } from '../stage/yield-to-event-loop.ts';
import { createPublishedBeyond, type PublishedBeyond, type PublishedEntry } from './published-beyond.ts';
import { type PublishedTick, stampListOf } from './published-ticks.ts';

export interface StampsPublisher {
  /**
   * Runs in the transaction that commits these ticks, which follow the ticks committed before. Readers see the records once it has
   * committed.
   */
  publish(client: PoolClient, complete: readonly PublishedTick[]): Promise<void>;
  /** The same for provisional ticks. The ticks of a chain must follow a published one. */
  publishAhead(client: PoolClient, ahead: readonly PublishedTick[]): Promise<void>;
  /** Published height of a chain, complete or provisional; −1 before its first block. */
  publishedThrough(chain: string): number;
  /** Retracts published stamps of undone ticks, and provisional stamps of a rewound chain. Idempotent. */
  publishRewind(rewound: RewoundChain | null): Promise<void>;
  close(): Promise<void>;
}

export interface RewoundChain {
  readonly chain: string;
  /** The newest block that stays. */
  readonly height: number;
  readonly hash: string;
  /** Position of the facts record of the rewind. */
  readonly position: number;
}

interface Partition {
  readonly chain: string;
  readonly writer: LogWriter;
  /** The newest complete block that is published. */
  tip: BlockRef;
  /** Height of the first block in `beyond`: it follows the tip, or is the chain's first block. */
  firstBeyond: number;
  /** The published blocks after the tip, one by one. */
  readonly beyond: PublishedBeyond;
}

/** Encodes the record at its position, and returns the position. */
type AddRecord = (encode: (position: number) => Uint8Array) => number;

type Lock = Pick<StageLock, 'transaction'>;

const BEFORE_GENESIS: BlockRef = { height: -1, hash: '' };
const READ_LIMITS = { maxRecords: 1000, maxBytes: 16 * 1024 * 1024 };
/** A correction contains both lists; above this size, the block and all later ones are retracted and published again. */
const MOST_CORRECTED_BYTES = 16 * 1024 * 1024;

/** Becomes the only writer of the topic and retracts records of ticks that the stores no longer have. */
export async function openStampsPublisher(
  log: Pick<EventLog, 'openWriter'>,
  topics: Pick<TopicReader, 'read'>,
  lock: Lock,
  chains: readonly { readonly name: string }[],
): Promise<StampsPublisher> {
  const partitions: Partition[] = [];
  const yieldToEventLoop = createYield();

  async function close(): Promise<void> {
    for (const { writer } of partitions) await writer.close();
  }

  async function open(): Promise<void> {
    const ticked = await lock.transaction((client) => readStagePositions(client, 'price'));
    const complete = await lock.transaction((client) => readStagePositions(client, 'told_complete'));
    for (const { name } of chains) {
      const writer = await log.openWriter('stamps', name);
      const held = complete.get(name);
      const tip = held ?? ticked.get(name) ?? BEFORE_GENESIS;
      const partition = { chain: name, writer, tip, firstBeyond: tip.height + 1, beyond: createPublishedBeyond() };
      partitions.push(partition);
      await readBeyond(topics, partition, (held?.position ?? -1) + 1);
    }
  }

  async function publishTicks(
    client: PoolClient,
    partition: Partition,
    ticks: readonly PublishedTick[],
    isComplete: boolean,
  ) {
    const { writer, chain } = partition;
    const records: LogRecord[] = [];
    const add: AddRecord = (encode) => {
      const position = writer.next + records.length;
      records.push({ position, payload: encode(position) });
      return position;
    };
    for (const tick of ticks) {
      await yieldToEventLoop();
      await addTick(topics, partition, tick, isComplete, add);
    }
    if (records.length > 0) await writer.append(records);
    await save(client, chain, partition);
  }

  async function publishRewind(client: PoolClient, rewind: RewoundChain | null): Promise<void> {
    const ticked = await readStagePositions(client, 'price');
    for (const partition of partitions) {
      const { chain, tip, beyond, writer } = partition;
      const at = ticked.get(chain) ?? { ...BEFORE_GENESIS, position: -1 };
      // Records from later facts were published after this rewind, by an earlier run.
      const isOlder = rewind && (beyond.at(beyond.length - 1)?.source ?? -1) < rewind.position;
      const back = rewind?.chain === chain && isOlder ? rewind : null;
      const newest = newestOf(partition);
      const kept = tip.height > at.height ? at : back && newest.height > back.height ? back : null;
      if (!kept) continue;
      const reason = (await stands(client, chain, newest)) ? 'repriced' : 'reorg';
      const { position } = back ?? at;
      const record = rewound({ source: position, ...blockOf(kept), fromHeight: newest.height, reason });
      await writer.append([{ position: writer.next, payload: record(writer.next) }]);
      keepPublished(partition, kept === back ? kept : tip);
      if (kept.height < tip.height) setTip(partition, kept);
      await save(client, chain, partition);
    }
  }

  try {
    await open();
    await lock.transaction((client) => publishRewind(client, null));
  } catch (error) {
    await close();
    throw error;
  }
  return {
    async publish(client, complete) {
      for (const partition of partitions) await publishTicks(client, partition, ofChain(complete, partition), true);
    },
    async publishAhead(client, ahead) {
      for (const partition of partitions) {
        const ticks = ofChain(ahead, partition);
        if (ticks.length > 0) await publishTicks(client, partition, ticks, false);
      }
    },
    publishedThrough(chain) {
      const partition = partitions.find((of) => of.chain === chain);
      return partition ? newestOf(partition).height : -1;
    },
    publishRewind: (rewind) => lock.transaction((client) => publishRewind(client, rewind)),
    close,
  };
}

/** Adds a record when the tick differs from the topic, and moves the partition past the tick. */
async function addTick(
  topics: Pick<TopicReader, 'read'>,
  partition: Partition,
  tick: PublishedTick,
  isComplete: boolean,
  add: AddRecord,
): Promise<void> {
  const { beyond, chain, writer } = partition;
  const { packing } = writer;
  const { height, hash, time, position: source } = tick.block;
  const list = encodeStampList(stampListOf(tick));
  const index = placeOf(partition, height, isComplete || partition.tip.height < 0);
  const publishedEntry = beyond.at(index);
  const provisional = !isComplete;
  const head = { source, height, hash, time, provisional };
  const isAlike = beyond.isAlike(index, hash, list);
  const isMarkedAlike = list.length === 0 || publishedEntry?.provisional === provisional;
  if (!isAlike || !isMarkedAlike) {
    const was = isAlike ? list : publishedEntry?.hash === hash ? await readList(topics, chain, publishedEntry) : null;
    if (publishedEntry && was && was.length + list.length <= MOST_CORRECTED_BYTES) {
      const { provisional: wasProvisional } = publishedEntry;
      const latest = add((at) => encodeStampsCorrected({ position: at, ...head, wasProvisional }, was, list, packing));
      beyond.correct(index, { latest, provisional }, list);
    } else {
      if (publishedEntry) {
        const kept = blockAt(partition, index - 1);
        const reason = publishedEntry.hash === hash ? 'repriced' : 'reorg';
        add(rewound({ source, ...kept, fromHeight: newestOf(partition).height, reason }));
        beyond.truncate(index);
      }
      if (index !== beyond.length)
        throw new TypeError(`block ${height} of ${chain} does not follow the newest published block`);
      const position = add((at) => encodeStampsAppended({ position: at, ...head }, list, packing));
      beyond.push({ position, source, hash, provisional }, list);
    }
  }
  if (!isComplete) return;
  beyond.shift(1);
  partition.tip = { height, hash };
  partition.firstBeyond = height + 1;
}

const blockOf = ({ height, hash }: BlockRef): BlockRef => ({ height, hash });

function ofChain(ticks: readonly PublishedTick[], { chain }: Partition): readonly PublishedTick[] {
  return ticks.filter(({ block }) => block.chain === chain);
}

/** Index of a block among the provisional ones. A chain's first block may have any height. */
function placeOf(partition: Partition, height: number, isFirst = partition.tip.height < 0): number {
  if (isFirst && partition.beyond.length === 0) partition.firstBeyond = height;
  return height - partition.firstBeyond;
}

/** Drops the published blocks after the given one. */
function keepPublished({ firstBeyond, beyond }: Partition, { height }: BlockRef): void {
  beyond.truncate(height + 1 - firstBeyond);
}

function setTip(partition: Partition, block: BlockRef): void {
  partition.tip = blockOf(block);
  partition.firstBeyond = block.height + 1;
}

/** The block at an index beyond the tip; the tip for any other index. */
function blockAt({ tip, firstBeyond, beyond }: Partition, index: number): BlockRef {
  const publishedEntry = beyond.at(index);
  return publishedEntry ? { height: firstBeyond + index, hash: publishedEntry.hash } : tip;
}

function newestOf(partition: Partition): BlockRef {
  return blockAt(partition, partition.beyond.length - 1);
}

function rewound(record: Omit<StampsRewound, 'kind' | 'position'>): (position: number) => Uint8Array {
  return (position) => encodeStampsRewound({ kind: 'rewind', position, ...record });
}

/** Reads the topic's records after the complete ones, committed or not. */
async function readBeyond(topics: Pick<TopicReader, 'read'>, partition: Partition, first: number): Promise<void> {
  for (let next = first; ; ) {
    const entries = await topics.read('stamps', partition.chain, next, READ_LIMITS);
    if (entries.length === 0) return;
    for (const entry of entries) {
      const record = entry.record();
      const { position, height, hash } = record;
      if (record.kind === 'stamps') {
        placeOf(partition, height);
        const { source, provisional } = record;
        partition.beyond.push({ position, source, hash, provisional }, encodeStampList(listOf(record)));
      } else if (record.kind === 'correction') {
        const index = height - partition.firstBeyond;
        const { now, provisional } = record;
        // A correction of a complete block may follow the first provisional one.
        if (partition.beyond.at(index)?.hash === hash) {
          partition.beyond.correct(index, { latest: position, provisional }, encodeStampList(now));
        }
      } else {
        keepPublished(partition, record);
        if (height < partition.tip.height) setTip(partition, { height, hash });
      }
      next = position + 1;
    }
  }
}

const listOf = ({ prices, stamps }: StampList): StampList => ({ prices, stamps });

/** Reads the newest published list of a block, encoded as by encodeStampList. Returns null if the log no longer has it. */
async function readList(
  topics: Pick<TopicReader, 'read'>,
  chain: string,
  { latest }: PublishedEntry,
): Promise<Buffer | null> {
  const [entry] = await topics
    .read('stamps', chain, latest, { ...READ_LIMITS, maxRecords: 1 })
    .catch((error: unknown) => {
      if (error instanceof LogGap) return [];
      throw error;
    });
  const record = entry?.record();
  if (record?.kind === 'stamps') return encodeStampList(listOf(record));
  return record?.kind === 'correction' ? encodeStampList(record.now) : null;
}

async function save(client: PoolClient, chain: string, { writer, tip, beyond }: Partition): Promise<void> {
  const complete = (beyond.at(0)?.position ?? writer.next) - 1;
  const at = { chain, ...blockOf(tip), clock: 0 };
  await saveStagePositions(client, [
    { ...at, stage: 'told', position: writer.next - 1 },
    { ...at, stage: 'told_complete', position: complete },
  ]);
}

async function stands(client: PoolClient, chain: string, { height, hash }: BlockRef): Promise<boolean> {
  const sql = 'SELECT FROM blocks WHERE chain = $1 AND height = $2 AND hash = $3';
  return (await client.query(sql, [chain, height, hexParam(hash)])).rowCount === 1;
}
