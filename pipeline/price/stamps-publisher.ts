/**
 * The topic of stamps: one record for each priced block, and one that takes back what no longer holds. It says what the stage
 * knows, by comparison: what a crash or a provisional look has left there beyond the complete ticks is kept where it turns out
 * right, and taken back from the first block on that reads otherwise. docs/decisions/0020-prices-in-the-stream.md.
 */
import type { PoolClient } from 'pg';
import type { EventLog, LogRecord, LogWriter } from '../../infra/event-log/event-log.ts';
import { hexParam } from '../../infra/postgres/values.ts';
import {
  decodeStampsRecord,
  encodeStampList,
  encodeStampsAppended,
  encodeStampsRewound,
} from '../../schemas/log-codec.ts';
import type { StampsRewound } from '../../schemas/log-records.ts';
import { createBreather } from '../derive/breather.ts';
import type { StageLock } from '../stage-lock.ts';
import { stampListOf, type ToldTick } from './told-ticks.ts';

export interface StampsPublisher {
  /**
   * Part of the transaction that commits the ticks of `complete`, which follow on those committed before; `ahead` is what is shown
   * beyond them. Readers see the records once it has committed.
   */
  tell(client: PoolClient, complete: readonly ToldTick[], ahead: readonly ToldTick[]): Promise<void>;
  /** Takes back what was told of ticks that are no longer there and, of a chain that went back, of blocks ahead of its ticks. Twice is as once. */
  takeBack(rewound: RewoundChain | null): Promise<void>;
  close(): Promise<void>;
}

export interface RewoundChain {
  readonly chain: string;
  /** The newest block that stays. */
  readonly height: number;
  readonly hash: string;
  /** Of the record of topic facts that says so. */
  readonly position: number;
}

interface ToldBlock {
  readonly height: number;
  readonly hash: string;
}

/** Told, and not known to be complete. */
interface Beyond extends ToldBlock {
  readonly position: number;
  readonly list: Buffer;
}

interface Partition {
  readonly chain: string;
  readonly writer: LogWriter;
  /** The newest block that is told and complete. */
  tip: ToldBlock;
  /** Follow on the tip. */
  beyond: Beyond[];
}

type Lock = Pick<StageLock, 'transaction'>;

const BEFORE_GENESIS: ToldBlock = { height: -1, hash: '' };
const READ_LIMITS = { maxRecords: 1000, maxBytes: 16 * 1024 * 1024 };
/** `told` is up to where records count, `told_complete` up to where they are of complete ticks. */
const SAVE_SQL = `INSERT INTO stage_positions (stage, chain, position, height, hash, clock)
  VALUES ('told', $1, $2, $4, $5, 0), ('told_complete', $1, $3, $4, $5, 0)
  ON CONFLICT (stage, chain) DO UPDATE SET position = EXCLUDED.position, height = EXCLUDED.height, hash = EXCLUDED.hash`;
const POSITIONS_SQL = 'SELECT chain, position, height, hash FROM stage_positions WHERE stage = $1';

/** Becomes the only writer of the topic and takes back what the stores no longer hold. */
export async function openStampsPublisher(
  log: Pick<EventLog, 'openWriter' | 'read'>,
  lock: Lock,
  chains: readonly { readonly name: string }[],
): Promise<StampsPublisher> {
  const partitions: Partition[] = [];
  const breathe = createBreather();

  async function close(): Promise<void> {
    for (const { writer } of partitions) await writer.close();
  }

  async function open(): Promise<void> {
    const ticked = await lock.transaction((client) => readPositions(client, 'price'));
    const complete = await lock.transaction((client) => readPositions(client, 'told_complete'));
    for (const { name } of chains) {
      const writer = await log.openWriter('stamps', name);
      const held = complete.get(name);
      const partition: Partition = { chain: name, writer, tip: held ?? ticked.get(name) ?? BEFORE_GENESIS, beyond: [] };
      partitions.push(partition);
      await readBeyond(log, partition, (held?.position ?? -1) + 1);
    }
  }

  async function tell(client: PoolClient, partition: Partition, ticks: readonly ToldTick[], complete: number) {
    const { writer, beyond, chain } = partition;
    const records: LogRecord[] = [];
    const add = (encode: (position: number) => Uint8Array): number => {
      const position = writer.next + records.length;
      records.push({ position, payload: encode(position) });
      return position;
    };
    for (const [index, tick] of ticks.entries()) {
      await breathe();
      const { height, hash, time, position: source } = tick.block;
      const list = encodeStampList(stampListOf(tick));
      const told = beyond[index];
      if (told?.hash === hash && told.list.equals(list)) continue;
      if (told) {
        const kept = ticks[index - 1]?.block ?? partition.tip;
        const reason = told.hash === hash ? 'repriced' : 'reorg';
        add(rewound({ source, ...blockOf(kept), fromHeight: beyond.at(-1)?.height ?? height, reason }));
        beyond.length = index;
      }
      const provisional = index >= complete;
      const position = add((at) =>
        encodeStampsAppended({ position: at, source, height, hash, time, provisional }, list),
      );
      beyond.push({ position, height, hash, list });
    }
    if (records.length > 0) await writer.append(records);
    partition.tip = ticks[complete - 1]?.block ?? partition.tip;
    beyond.splice(0, complete);
    await save(client, chain, partition);
  }

  async function takeBack(client: PoolClient, rewind: RewoundChain | null): Promise<void> {
    const ticked = await readPositions(client, 'price');
    for (const partition of partitions) {
      const { chain, tip, beyond, writer } = partition;
      const at = ticked.get(chain) ?? { ...BEFORE_GENESIS, position: -1 };
      const back = rewind?.chain === chain ? rewind : null;
      const newest = beyond.at(-1) ?? tip;
      const kept = tip.height > at.height ? at : back && newest.height > back.height ? back : null;
      if (!kept) continue;
      const reason = (await stands(client, chain, newest)) ? 'repriced' : 'reorg';
      const { position } = back ?? at;
      const record = rewound({ source: position, ...blockOf(kept), fromHeight: newest.height, reason });
      await writer.append([{ position: writer.next, payload: record(writer.next) }]);
      partition.beyond = kept === back ? beyond.filter(({ height }) => height <= kept.height) : [];
      if (kept.height < tip.height) partition.tip = blockOf(kept);
      await save(client, chain, partition);
    }
  }

  try {
    await open();
    await lock.transaction((client) => takeBack(client, null));
  } catch (error) {
    await close();
    throw error;
  }
  return {
    async tell(client, complete, ahead) {
      for (const partition of partitions) {
        const isOurs = ({ block }: ToldTick) => block.chain === partition.chain;
        const ticks = complete.filter(isOurs);
        await tell(client, partition, [...ticks, ...ahead.filter(isOurs)], ticks.length);
      }
    },
    takeBack: (rewind) => lock.transaction((client) => takeBack(client, rewind)),
    close,
  };
}

const blockOf = ({ height, hash }: ToldBlock): ToldBlock => ({ height, hash });

function rewound(record: Omit<StampsRewound, 'kind' | 'position'>): (position: number) => Uint8Array {
  return (position) => encodeStampsRewound({ kind: 'rewind', position, ...record });
}

/** What the topic says behind its complete records, committed or not. */
async function readBeyond(log: Pick<EventLog, 'read'>, partition: Partition, first: number): Promise<void> {
  for (let next = first; ; ) {
    const records = await log.read('stamps', partition.chain, next, READ_LIMITS);
    if (records.length === 0) return;
    for (const { payload, position } of records) {
      const record = decodeStampsRecord(payload);
      const { height, hash } = record;
      if (record.kind === 'stamps') {
        partition.beyond.push({ position, height, hash, list: encodeStampList(listOf(record)) });
      } else {
        partition.beyond = partition.beyond.filter((block) => block.height <= height);
        if (height < partition.tip.height) partition.tip = { height, hash };
      }
      next = position + 1;
    }
  }
}

const listOf = ({ prices, stamps }: Parameters<typeof encodeStampList>[0]) => ({ prices, stamps });

async function readPositions(client: PoolClient, stage: string) {
  const { rows } = await client.query<{ chain: string; position: bigint; height: number; hash: string }>(
    POSITIONS_SQL,
    [stage],
  );
  return new Map(rows.map(({ chain, position, ...block }) => [chain, { ...block, position: Number(position) }]));
}

async function save(client: PoolClient, chain: string, { writer, tip, beyond }: Partition): Promise<void> {
  const complete = (beyond[0]?.position ?? writer.next) - 1;
  await client.query(SAVE_SQL, [chain, writer.next - 1, complete, tip.height, hexParam(tip.hash)]);
}

async function stands(client: PoolClient, chain: string, { height, hash }: ToldBlock): Promise<boolean> {
  const sql = 'SELECT FROM blocks WHERE chain = $1 AND height = $2 AND hash = $3';
  return (await client.query(sql, [chain, height, hexParam(hash)])).rowCount === 1;
}
