import { randomBytes } from 'node:crypto';
import kafkajs, { type Admin, type Kafka, type Producer } from 'kafkajs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { decodeBlocksRecord, encodeBlocksRecord } from '../../../schemas/log-codec.ts';
import type { BlockAppended } from '../../../schemas/log-records.ts';
import { describeEventLog } from '../../../test/support/infra/event-log/conformance.ts';
import {
  type AnswerLosingProxy,
  API,
  startAnswerLosingProxy,
} from '../../../test/support/infra/event-log/kafka/answer-losing-proxy.ts';
import {
  startTestBroker,
  type TestBroker,
} from '../../../test/support/infra/event-log/kafka/test-broker/test-broker.ts';
import { testRecord, testRecords } from '../../../test/support/infra/event-log/test-records.ts';
import { createLogger } from '../../logger.ts';
import type { EventLog, LogRecord } from '../event-log.ts';
import { createKafkaClient } from './kafka-client.ts';
import { createKafkaConnection } from './kafka-connection.ts';
import { createKafkaEventLog } from './kafka-event-log.ts';
import { createPartitionFetcher, type PartitionFetcher } from './partition-fetcher.ts';
import { recordMessage } from './record-message.ts';

const started = await startTestBroker();
const brokers = 'skipped' in started ? [] : started.brokers;
const logger = createLogger('silent');
const ALL = { maxRecords: 1_000_000, maxBytes: 1_000_000_000 };

const code = (expected: string) => expect.objectContaining({ code: expected });
const newPrefix = () => `test-${randomBytes(6).toString('hex')}`;
const positions = (records: readonly LogRecord[]) => records.map((record) => record.position);

if ('skipped' in started) it('the log on Kafka', ({ skip }) => skip(started.skipped));
else describe('the log on Kafka', () => describeKafkaLog(started));

function describeKafkaLog(broker: TestBroker): void {
  afterAll(broker.stop);

  describeEventLog({
    async createStorage() {
      const topicPrefix = newPrefix();
      return {
        open: () => createKafkaEventLog({ brokers, logger, topicPrefix }),
        appender: { brokers, topicPrefix },
      };
    },
    secondWriter: 'takes over',
    kills: 20,
  });

  let kafka: Kafka;
  let admin: Admin;
  let topicPrefix: string;
  let topic: string;
  let log: EventLog;
  const producers: Producer[] = [];

  const producer = async (transactionalId: string): Promise<Producer> => {
    const createPartitioner = kafkajs.Partitioners.DefaultPartitioner;
    const made = kafka.producer({ transactionalId, maxInFlightRequests: 1, createPartitioner });
    await made.connect();
    producers.push(made);
    return made;
  };

  beforeAll(async () => {
    kafka = new kafkajs.Kafka({
      brokers: [...brokers],
      logLevel: kafkajs.logLevel.NOTHING,
      retry: { initialRetryTime: 20 },
    });
    admin = kafka.admin();
    await admin.connect();
  });

  beforeEach(() => {
    topicPrefix = newPrefix();
    topic = `${topicPrefix}.blocks.vrsc`;
    log = createKafkaEventLog({ brokers, logger, topicPrefix });
  });

  afterEach(async () => {
    for (const made of producers.splice(0)) await made.disconnect();
    await log.close();
  });

  afterAll(() => admin?.disconnect());

  async function withFetcher<T>(use: (fetcher: PartitionFetcher) => Promise<T>): Promise<T> {
    const connection = createKafkaConnection(createKafkaClient({ brokers, logger }));
    return use(createPartitionFetcher(connection, topic)).finally(connection.close);
  }

  /** Positions of all copies of records in the topic; a reader would skip the second copy. */
  async function storedPositions(): Promise<(number | null)[]> {
    const fetched = await withFetcher((fetcher) => fetcher.fetch(0, { maxBytes: 1e9, waitMs: 0 }));
    return (fetched?.messages ?? []).map(({ position }) => position).filter((position) => position !== null);
  }

  describe('a lost answer', () => {
    let proxy: AnswerLosingProxy;
    let through: EventLog;

    beforeEach(async () => {
      proxy = await startAnswerLosingProxy(brokers[0] ?? '');
      through = createKafkaEventLog({ brokers, logger, topicPrefix, socketFactory: proxy.socketFactory });
    });

    afterEach(async () => {
      await through.close();
      await proxy.close();
    });

    it.each(Object.entries(API))('to %s leaves one copy of each record', async (_, apiKey) => {
      const writer = await through.openWriter('blocks', 'vrsc');
      await writer.append(testRecords(0, 3));
      const lost = proxy.loseAnswer(apiKey);
      // Only a new writer sends initProducerId.
      const writing = apiKey === API.initProducerId ? await through.openWriter('blocks', 'vrsc') : writer;
      await writing.append(testRecords(3, 4));
      await lost;
      await writing.append(testRecords(7, 2));
      expect(await storedPositions()).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
    });

    it('does not let a writer that was replaced take over again', async () => {
      const first = await through.openWriter('blocks', 'vrsc');
      await first.append(testRecords(0, 3));
      const second = await log.openWriter('blocks', 'vrsc');
      const lost = proxy.loseAnswer(API.addPartitionsToTransaction);
      await expect(first.append(testRecords(3, 1))).rejects.toEqual(code('log_writer_fenced'));
      await lost;
      await second.append(testRecords(3, 2));
      expect(second.next).toBe(5);
      await expect(first.append(testRecords(3, 1))).rejects.toEqual(code('log_writer_fenced'));
    });
  });

  describe('the end of the log', () => {
    it('is found despite markers of writers and interleaved aborted transactions after it', async () => {
      await (await log.openWriter('blocks', 'vrsc')).append(testRecords(0, 3));
      for (let i = 0; i < 5; i += 1) await (await log.openWriter('blocks', 'vrsc')).close();
      const [one, two] = await Promise.all([producer(`${topicPrefix}.one`), producer(`${topicPrefix}.two`)]);
      const foreign = [{ topic, messages: [recordMessage({ position: 77, payload: Buffer.from('aborted') }, 'x')] }];
      for (let i = 0; i < 30; i += 1) {
        const transactions = [await one.transaction(), await two.transaction()];
        for (const transaction of transactions) await transaction.sendBatch({ topicMessages: foreign });
        for (const transaction of transactions) await transaction.abort();
      }
      const fresh = createKafkaEventLog({ brokers, logger, topicPrefix });
      expect((await fresh.last('blocks', 'vrsc'))?.position).toBe(2);
      expect(positions(await fresh.read('blocks', 'vrsc', 1, ALL))).toEqual([1, 2]);
      const writer = await fresh.openWriter('blocks', 'vrsc');
      await writer.append(testRecords(3, 1));
      expect(positions(await log.read('blocks', 'vrsc', 0, ALL))).toEqual([0, 1, 2, 3]);
      await fresh.close();
    });

    it('does not show uncommitted records, and wakes readers when they are committed', async () => {
      const writer = await log.openWriter('blocks', 'vrsc');
      await writer.append(testRecords(0, 1));
      const other = await producer(`${topicPrefix}.other`);
      const transaction = await other.transaction();
      await transaction.send({ topic, messages: [recordMessage(testRecord(1), 'x')] });
      expect((await log.last('blocks', 'vrsc'))?.position).toBe(0);
      expect(positions(await log.read('blocks', 'vrsc', 0, ALL))).toEqual([0]);
      const woken = log.waitFor('blocks', 'vrsc', 1, 120_000);
      const began = Date.now();
      await transaction.commit();
      await woken;
      expect(Date.now() - began).toBeLessThan(60_000);
      expect(positions(await log.read('blocks', 'vrsc', 0, ALL))).toEqual([0, 1]);
    });
  });

  describe('a topic', () => {
    const create = (configEntries: { name: string; value: string }[], numPartitions = 1, name = topic) =>
      admin.createTopics({ topics: [{ topic: name, numPartitions, configEntries }], waitForLeaders: true });
    const large = { name: 'max.message.bytes', value: '40000000' };
    const forever = [{ name: 'retention.ms', value: '-1' }, large];

    it('of blocks is created without a retention limit and for the largest record', async () => {
      await log.openWriter('blocks', 'vrsc');
      const { resources } = await admin.describeConfigs({
        includeSynonyms: false,
        resources: [{ type: kafkajs.ConfigResourceTypes.TOPIC, name: topic }],
      });
      const entries = resources[0]?.configEntries.map(({ configName, configValue }) => [configName, configValue]);
      expect(Object.fromEntries(entries ?? [])).toMatchObject({ 'retention.ms': '-1', 'retention.bytes': '-1' });
    });

    it('that would lose or refuse blocks is refused with the command that corrects it', async () => {
      await create([large]);
      await expect(log.openWriter('blocks', 'vrsc')).rejects.toEqual(code('log_topic_settings'));
      await expect(log.openWriter('blocks', 'vrsc')).rejects.toThrow(
        new RegExp(`retention.ms is 604800000.*kafka-configs.sh.*--entity-name ${topic} --add-config retention.ms=-1`),
      );
      await create([...forever, { name: 'cleanup.policy', value: 'compact' }], 1, `${topicPrefix}.blocks.a`);
      await expect(log.openWriter('blocks', 'a')).rejects.toThrow(/cleanup.policy is compact/);
      await create([{ name: 'retention.ms', value: '-1' }], 1, `${topicPrefix}.blocks.b`);
      await expect(log.openWriter('blocks', 'b')).rejects.toThrow(/max.message.bytes is 1048588/);
      await create(forever, 3, `${topicPrefix}.blocks.c`);
      await expect(log.openWriter('blocks', 'c')).rejects.toThrow(/has 3 partitions instead of 1/);
      await create(forever, 1, `${topicPrefix}.blocks.d`);
      expect((await log.openWriter('blocks', 'd')).next).toBe(0);
    });

    it('whose limit was lowered refuses a large record with the setting to change, and continues with small ones', async () => {
      const writer = await log.openWriter('blocks', 'vrsc');
      await admin.alterConfigs({
        validateOnly: false,
        resources: [
          {
            type: kafkajs.ConfigResourceTypes.TOPIC,
            name: topic,
            configEntries: [{ name: 'max.message.bytes', value: '100000' }],
          },
        ],
      });
      const end = await withFetcher((fetcher) => fetcher.end());
      // Two batches: the broker accepts the first.
      const tooLarge = { position: 1, payload: Buffer.alloc(2_000_000) };
      await expect(writer.append([testRecord(0), tooLarge])).rejects.toEqual(code('log_topic_settings'));
      // If the transaction were still open, readers would be blocked before its record and the marker of its abort.
      await expect.poll(() => withFetcher((fetcher) => fetcher.end())).toBe((end ?? 0) + 2);
      await writer.append(testRecords(0, 2));
      expect(positions(await log.read('blocks', 'vrsc', 0, ALL))).toEqual([0, 1]);
    });

    it('whose first records were deleted reports which are missing', async () => {
      const writer = await log.openWriter('blocks', 'vrsc');
      for (let i = 0; i < 10; i += 1) await writer.append(testRecords(writer.next, 1));
      const [{ offset = '' } = {}] = (await admin.fetchTopicOffsets(topic)).map(({ high }) => ({ offset: high }));
      await admin.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset: String(Number(offset) - 4) }] });
      for (const reader of [log, createKafkaEventLog({ brokers, logger, topicPrefix })]) {
        expect((await reader.last('blocks', 'vrsc'))?.position).toBe(9);
        expect(positions(await reader.read('blocks', 'vrsc', 9, ALL))).toEqual([9]);
        await expect(reader.read('blocks', 'vrsc', 0, ALL)).rejects.toThrow(/record 0 of blocks\/vrsc is missing/);
        await expect(reader.read('blocks', 'vrsc', 5, ALL)).rejects.toEqual(code('log_gap'));
        if (reader !== log) await reader.close();
      }
      await admin.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset: '-1' }] });
      await expect(log.last('blocks', 'vrsc')).rejects.toEqual(code('log_gap'));
      await expect(log.openWriter('blocks', 'vrsc')).rejects.toThrow(/every record of blocks\/vrsc has expired/);
    });

    it('with corrupt bytes is reported with the offset', async () => {
      const writer = await log.openWriter('blocks', 'vrsc');
      await writer.append(testRecords(0, 2));
      const other = kafka.producer({ createPartitioner: kafkajs.Partitioners.DefaultPartitioner });
      await other.connect();
      const record = recordMessage({ position: 2, payload: Buffer.from('as it was') }, 'x');
      await other.send({ topic, messages: [{ ...record, value: 'as it is now' }] });
      await expect(log.read('blocks', 'vrsc', 0, ALL)).rejects.toEqual(code('log_corrupt'));
      await expect(log.last('blocks', 'vrsc')).rejects.toThrow(/offset \d+: record 2 does not match its checksum/);
      await other.send({ topic, messages: [{ value: 'somebody else' }] });
      await expect(log.last('blocks', 'vrsc')).rejects.toThrow(/offset \d+: .*(not a record|checksum)/);
      await other.disconnect();
    });
  });

  describe('a block', () => {
    it('of 64 MiB of JSON is read back unchanged', async () => {
      const hex = randomBytes(2 * 1024 * 1024).toString('hex');
      const block: BlockAppended = {
        kind: 'block',
        position: 0,
        height: 1,
        hash: 'aa',
        previousHash: null,
        time: 1,
        block: Buffer.from(hex.repeat(16)),
      };
      const writer = await log.openWriter('blocks', 'vrsc');
      await writer.append([{ position: 0, payload: encodeBlocksRecord(block) }]);
      const reader = createKafkaEventLog({ brokers, logger, topicPrefix });
      const [record] = await reader.read('blocks', 'vrsc', 0, ALL);
      const decoded = decodeBlocksRecord(record?.payload ?? Buffer.alloc(0));
      expect(decoded.kind === 'block' && Buffer.compare(decoded.block, block.block)).toBe(0);
      await reader.close();
    });
  });

  describe('a broker', () => {
    it('at an address where nothing listens is unreachable', async () => {
      const nowhere = createKafkaEventLog({ brokers: ['127.0.0.1:1'], logger, topicPrefix });
      await expect(nowhere.last('blocks', 'vrsc')).rejects.toEqual(code('log_unreachable'));
      await expect(nowhere.openWriter('blocks', 'vrsc')).rejects.toThrow(/Kafka \(127.0.0.1:1\) did not/);
      const began = Date.now();
      await nowhere.waitFor('blocks', 'vrsc', 0, 300);
      expect(Date.now() - began).toBeGreaterThanOrEqual(290);
      await nowhere.close();
    });

    it.skipIf(process.env.KAFKA_BROKERS !== undefined)(
      'that is killed and restarted loses and duplicates no record',
      async () => {
        const writer = await log.openWriter('blocks', 'vrsc');
        await writer.append(testRecords(0, 5));
        const waiting = log.waitFor('blocks', 'vrsc', 5, 90_000);
        const killed = broker.kill();
        await expect(writer.append(testRecords(5, 5))).rejects.toEqual(code('log_unreachable'));
        await killed;
        await expect(log.read('blocks', 'vrsc', 0, ALL)).rejects.toEqual(code('log_unreachable'));
        await broker.restart();
        await expect
          .poll(() => writer.append(testRecords(5, 5)).then(() => 'appended'), { timeout: 60_000 })
          .toBe('appended');
        await waiting;
        expect(await storedPositions()).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
      },
    );
  });
}
