/**
 * Reads of the log on Kafka by plain fetch requests, as the log does it (the baseline, with a comparison of checksums), and by a one-member
 * consumer group with `seek`: start to the first record, a random record, a record just appended, and all records in sequence.
 * node benchmarks/kafka-reads.bench.ts [records = 20000] [bytes per record = 2000] [reads = 100] [wait of a group's fetch = 20 ms]
 */
import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createKafkaClient, type KafkaClient } from '../infra/event-log/kafka/kafka-client.ts';
import { createKafkaConnection } from '../infra/event-log/kafka/kafka-connection.ts';
import { createKafkaEventLog } from '../infra/event-log/kafka/kafka-event-log.ts';
import { createPartitionFetcher, type PartitionFetcher } from '../infra/event-log/kafka/partition-fetcher.ts';
import { createLogger } from '../infra/logger.ts';
import { startTestBroker } from '../test/support/infra/event-log/kafka/test-broker/test-broker.ts';
import { type GroupReader, openGroupReader } from './kafka-reads/group-reader.ts';
import { percentile } from './percentile.ts';

const STARTS = 3;
const SCANS = 3;
const FETCH_BYTES = 2 * 1024 * 1024;
const POLL_MS = 1_000;
const RECORDS_AN_APPEND = 100;
/** Length of the records that the readers wait for at the tip; no other record is this short. */
const APPENDED_BYTES = 4;
/** Time for both readers to reach the tip. */
const SETTLED_MS = 2_000;

const [records = 20_000, bytes = 2_000, reads = 100, waitMs = 20] = process.argv.slice(2).map(Number);

/** A reader by offset, independent of how it reads. */
interface Reader {
  /** Returns the offset of the first record at or after `offset`. */
  first(offset: number): Promise<number>;
  /** Calls `heard` with each record's offset and value until it returns true. */
  follow(offset: number, heard: (offset: number, value: Uint8Array) => boolean): Promise<void>;
  close(): Promise<void>;
}

function fetchingReader(client: KafkaClient, topic: string): Reader {
  const connection = createKafkaConnection(client);
  const fetcher: PartitionFetcher = createPartitionFetcher(connection, topic);
  async function* from(offset: number, maxBytes: number) {
    for (let next = offset; ; ) {
      const fetched = await fetcher.fetch(next, { maxBytes, waitMs: POLL_MS });
      if (fetched === null) throw new Error(`${topic} is not there`);
      for (const message of fetched.messages) if (message.position !== null) yield message;
      next = fetched.next;
    }
  }
  return {
    async first(offset) {
      for await (const message of from(offset, 1)) return message.offset;
      throw new Error('no record');
    },
    async follow(offset, heard) {
      for await (const message of from(offset, FETCH_BYTES)) if (heard(message.offset, message.payload)) return;
    },
    close: connection.close,
  };
}

const members: GroupReader[] = [];

async function groupReader(client: KafkaClient, topic: string): Promise<Reader> {
  const member = await openGroupReader(client.kafka, topic, { maxBytes: FETCH_BYTES, waitMs });
  members.push(member);
  return {
    async first(offset) {
      const found = (await member.read(offset)).find(({ headers }) => headers?.crc32 !== undefined);
      return Number(found?.offset);
    },
    follow: (offset, heard) =>
      member.follow(offset, (messages) =>
        messages.some(
          ({ offset: at, value, headers }) =>
            headers?.crc32 !== undefined && heard(Number(at), value ?? new Uint8Array()),
        ),
      ),
    close: member.close,
  };
}

const started = await startTestBroker();
if ('skipped' in started) {
  console.log(started.skipped);
  process.exit(0);
}
const logger = createLogger('silent');
const topicPrefix = `bench-${randomBytes(6).toString('hex')}`;
const topic = `${topicPrefix}.blocks.vrsc`;
const client = createKafkaClient({ brokers: started.brokers, logger });
const log = createKafkaEventLog({ brokers: started.brokers, logger, topicPrefix });
const opened: Reader[] = [];

const WAYS: Readonly<Record<string, () => Promise<Reader>>> = {
  'fetch requests (baseline)': async () => fetchingReader(client, topic),
  'a consumer group of one': () => groupReader(client, topic),
};

async function open(way: () => Promise<Reader>): Promise<Reader> {
  const reader = await way();
  opened.push(reader);
  return reader;
}

interface Measured {
  readonly start: number[];
  readonly anywhere: number[];
  readonly tip: number[];
  /** Records per second. */
  readonly scans: number[];
  digest: string;
}

async function startUp(way: () => Promise<Reader>): Promise<number> {
  const began = performance.now();
  const reader = await open(way);
  await reader.first(0);
  return performance.now() - began;
}

async function scan(reader: Reader, into: Measured): Promise<void> {
  const began = performance.now();
  const hash = createHash('sha256');
  let left = records;
  await reader.follow(0, (_, value) => {
    hash.update(value);
    left -= 1;
    return left === 0;
  });
  into.scans.push((records * 1000) / (performance.now() - began));
  into.digest = hash.digest('hex');
}

async function anywhere(reader: Reader, offset: number): Promise<number> {
  const began = performance.now();
  const found = await reader.first(offset);
  // There is a marker between two appends.
  if (!(found >= offset && found <= offset + 2)) throw new Error(`record at offset ${found} instead of ${offset}`);
  return performance.now() - began;
}

try {
  const writer = await log.openWriter('blocks', 'vrsc');
  const recordOf = (position: number) => ({ position, payload: randomBytes(bytes) });
  while (writer.next < records) {
    const count = Math.min(RECORDS_AN_APPEND, records - writer.next);
    await writer.append(Array.from({ length: count }, (_, n) => recordOf(writer.next + n)));
  }
  const results = new Map<string, Measured>();
  for (const [name, way] of Object.entries(WAYS)) {
    const into: Measured = { start: [], anywhere: [], tip: [], scans: [], digest: '' };
    results.set(name, into);
    for (let n = 0; n < STARTS; n += 1) into.start.push(await startUp(way));
  }
  const readers = new Map<string, Reader>();
  for (const [name, way] of Object.entries(WAYS)) readers.set(name, await open(way));
  for (let round = 0; round < SCANS; round += 1) {
    for (const [name, into] of results) await scan(readers.get(name) as Reader, into);
  }
  for (let n = 0; n < reads; n += 1) {
    const offset = Math.floor((records * ((n * 7919) % reads)) / reads);
    for (const [name, into] of results) into.anywhere.push(await anywhere(readers.get(name) as Reader, offset));
  }
  let heardAt = new Map<string, number>();
  const followers = [...readers].map(async ([name, reader]) => {
    let left = reads;
    await reader.follow(records, (_, value) => {
      if (value.length !== APPENDED_BYTES) return false;
      heardAt.set(name, performance.now());
      left -= 1;
      return left === 0;
    });
  });
  await sleep(SETTLED_MS);
  for (let n = 0; n < reads; n += 1) {
    heardAt = new Map();
    const began = performance.now();
    await writer.append([{ position: writer.next, payload: Buffer.alloc(APPENDED_BYTES) }]);
    while (heardAt.size < readers.size) await sleep(1);
    for (const [name, into] of results) into.tip.push((heardAt.get(name) ?? 0) - began);
  }
  await Promise.all(followers);

  const [[, baseline] = []] = results;
  if (!baseline) throw new Error('nothing was measured');
  const COLUMNS: readonly [string, (of: Measured) => number, string][] = [
    ['to the first record, ms', ({ start }) => percentile(start, 0.5), 'times as long'],
    ['one record anywhere, p50 ms', (of) => percentile(of.anywhere, 0.5), 'times as long'],
    ['one record anywhere, p99 ms', (of) => percentile(of.anywhere, 0.99), 'times as long'],
    ['append until it is read, p50 ms', (of) => percentile(of.tip, 0.5), 'times as long'],
    ['append until it is read, p99 ms', (of) => percentile(of.tip, 0.99), 'times as long'],
    ['scan, records a second', ({ scans }) => percentile(scans, 0.5), 'times as many'],
  ];
  for (const [name, figure, unit] of COLUMNS) {
    for (const [way, into] of results) {
      const ratio = figure(into) / figure(baseline);
      console.log(
        `${name.padEnd(34)}${way.padEnd(28)}${figure(into).toFixed(1).padStart(10)}   ${ratio.toFixed(2)} ${unit}`,
      );
    }
  }
  for (const reader of opened.splice(0)) await reader.close();
  const admin = client.kafka.admin();
  await admin.connect();
  try {
    const groups = new Set((await admin.listGroups()).groups.map(({ groupId }) => groupId));
    const known = members.filter(({ groupId }) => groups.has(groupId)).length;
    let committed = 0;
    for (const { groupId } of members) {
      const [offsets] = await admin.fetchOffsets({ groupId, topics: [topic] });
      if (offsets?.partitions.some(({ offset }) => offset !== '-1')) committed += 1;
    }
    const joins = members.reduce((sum, { counts }) => sum + counts.joins, 0);
    const rebalances = members.reduce((sum, { counts }) => sum + counts.rebalances, 0);
    console.log(`${members.length} groups: ${joins} joins, ${rebalances} rebalances, ${committed} committed an offset`);
    console.log(`after they left the broker keeps ${known} of them; fetch requests leave nothing on it`);
  } finally {
    await admin.disconnect();
  }
  if (new Set([...results.values()].map(({ digest }) => digest)).size !== 1) {
    console.error('the two ways read different records');
    process.exitCode = 1;
  }
} finally {
  for (const reader of opened.splice(0)) await reader.close();
  await log.close();
  await started.stop();
}
