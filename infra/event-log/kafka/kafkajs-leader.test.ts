import { randomBytes } from 'node:crypto';
import { createRequire } from 'node:module';
import kafkajs, { type Consumer, type ConsumerConfig, type Kafka } from 'kafkajs';
import { afterAll, describe, expect, it } from 'vitest';
import manifest from '../../../package.json' with { type: 'json' };
import {
  startTestBroker,
  type TestBroker,
} from '../../../test/support/infra/event-log/kafka/test-broker/test-broker.ts';
import { createKafkaConnection } from './kafka-connection.ts';
import { TESTED_KAFKAJS } from './kafka-errors.ts';
import { createKafkajsLeaders } from './kafkajs-leader.ts';
import type { TopicLeader, TopicLeaders } from './topic-leader.ts';

const OPTIONS = { metadataMaxAge: 60_000 };
const REQUEST = { offset: 0, maxBytes: 1_000_000, waitMs: 0 };

type Members = Record<string, unknown>;

const newBatch = (): Members => ({ producerId: '4', inTransaction: true });
const newMessage = (): Members => ({
  offset: '0',
  key: Buffer.from('0'),
  value: null,
  headers: {},
  isControlRecord: false,
  batchContext: newBatch(),
});

/** The objects that kafkajs passes to an assigner and returns from its broker; a test changes one member. */
interface Insides {
  readonly cluster: Members;
  readonly broker: Members;
  readonly answer: Members;
  readonly topic: Members;
  readonly partition: Members;
  readonly aborted: Members;
  readonly message: Members;
  readonly batch: Members;
}

function newInsides(): Insides {
  const message = newMessage();
  const aborted = { producerId: '4', firstOffset: '0' };
  const partition = { lastStableOffset: '1', abortedTransactions: [aborted], messages: [message] };
  const topic = { partitions: [partition] };
  const answer = { responses: [topic] };
  const broker = { fetch: async () => answer };
  const nothing = async () => {};
  const cluster = {
    connect: nothing,
    disconnect: nothing,
    addTargetTopic: nothing,
    findLeaderForPartitions: () => ({ 1: [0] }),
    findBroker: async () => broker,
    fetchTopicsOffset: async () => [{ topic: 'a', partitions: [{ partition: 0, offset: '7' }] }],
  };
  return { cluster, broker, answer, topic, partition, aborted, message, batch: message.batchContext as Members };
}

/** A fake kafkajs with these internals. */
function kafkajsOf({ cluster }: Pick<Insides, 'cluster'>): Pick<Kafka, 'consumer'> {
  return {
    consumer({ partitionAssigners = [], groupId }: ConsumerConfig) {
      for (const assigner of partitionAssigners) {
        assigner({ cluster: cluster as never, groupId, logger: {} as never });
      }
      return {} as Consumer;
    },
  };
}

async function fetchWith(insides: Insides): Promise<unknown> {
  const leaders = createKafkajsLeaders(kafkajsOf(insides), OPTIONS);
  return (await leaders.leaderOf('a')).fetch(REQUEST);
}

describe('kafkajs', () => {
  it('is installed in exactly the version that reading was written for', () => {
    const installed = createRequire(import.meta.url)('kafkajs/package.json') as { version: string };
    expect({ pinned: manifest.dependencies.kafkajs, installed: installed.version }).toEqual({
      pinned: TESTED_KAFKAJS,
      installed: TESTED_KAFKAJS,
    });
  });

  it('with the expected internals is read', async () => {
    const insides = newInsides();
    const { batchContext: _, ...message } = insides.message;
    expect(await fetchWith(insides)).toEqual({
      lastStableOffset: '1',
      abortedTransactions: [insides.aborted],
      messages: [{ ...message, ...insides.batch }],
    });
  });

  const members = Object.entries(newInsides()).flatMap(([part, of]) => Object.keys(of).map((member) => [part, member]));

  it.each(members as [keyof Insides, string][])(
    'whose %s has another %s is refused, naming the member',
    async (part, member) => {
      for (const change of [undefined, 1, Symbol('changed')]) {
        const insides = newInsides();
        insides[part][member] = change;
        await expect(fetchWith(insides)).rejects.toMatchObject({ code: 'log_client_changed' });
        await expect(fetchWith(insides)).rejects.toThrow(
          new RegExp(`^kafkajs ${TESTED_KAFKAJS} has another ${member} `),
        );
      }
    },
  );

  it('that passes partition assigners no cluster, or too late, is refused', () => {
    const later = { consumer: () => ({}) as Consumer };
    for (const changed of [later, kafkajsOf({ cluster: undefined as unknown as Members })]) {
      expect(() => createKafkajsLeaders(changed, OPTIONS)).toThrow(
        /^kafkajs .* has no cluster of a partition assigner/,
      );
    }
  });

  /** Reads through a connection; `answers` are the answers of the broker, in order. */
  async function readWith(answers: unknown[]): Promise<unknown> {
    const insides = newInsides();
    insides.broker.fetch = async () => answers.shift();
    const createLeaders = (): TopicLeaders => createKafkajsLeaders(kafkajsOf(insides), OPTIONS);
    const connection = createKafkaConnection({ brokers: [], kafka: {} as Kafka, createLeaders });
    return connection.withLeader('a', 'answer', (leader) => leader.fetch(REQUEST)).finally(connection.close);
  }

  it('whose answer has another form is not asked again', async () => {
    const answers = [{}, newInsides().answer];
    await expect(readWith(answers)).rejects.toMatchObject({ code: 'log_client_changed' });
    expect(answers).toHaveLength(1);
  });

  it('is asked again when the broker withheld the records, as it does for a client that exceeds its quota', async () => {
    expect(await readWith([{ responses: [] }, newInsides().answer])).toMatchObject({ lastStableOffset: '1' });
  });
});

const started = await startTestBroker();
if ('skipped' in started) it('kafkajs with a broker', ({ skip }) => skip(started.skipped));
else describe('kafkajs with a broker', () => describeRealReads(started));

function describeRealReads({ brokers, stop }: TestBroker): void {
  afterAll(stop);
  const kafka = new kafkajs.Kafka({ brokers: [...brokers], logLevel: kafkajs.logLevel.NOTHING });
  const topic = `test-${randomBytes(6).toString('hex')}`;

  async function withLeader(use: (leader: TopicLeader) => Promise<void>): Promise<void> {
    const leaders = createKafkajsLeaders(kafka, OPTIONS);
    await leaders.connect();
    await use(await leaders.leaderOf(topic)).finally(() => leaders.disconnect());
  }

  it('provides what reads need: offsets, markers, aborted transactions, and ends that exclude open transactions', async () => {
    const admin = kafka.admin();
    await admin.connect();
    const createPartitioner = kafkajs.Partitioners.DefaultPartitioner;
    const producer = kafka.producer({ transactionalId: topic, maxInFlightRequests: 1, createPartitioner });
    try {
      await admin.createTopics({ topics: [{ topic, numPartitions: 1 }], waitForLeaders: true });
      const groupsBefore = await admin.listGroups();
      await producer.connect();
      const committed = await producer.transaction();
      await committed.send({ topic, messages: [{ key: 'k', value: 'committed', headers: { one: 'header' } }] });
      await committed.commit();
      const aborted = await producer.transaction();
      await aborted.send({ topic, messages: [{ key: 'k', value: null }] });
      await aborted.abort();
      await withLeader(async (leader) => {
        await expect.poll(() => leader.end()).toBe(4);
        const open = await producer.transaction();
        await open.send({ topic, messages: [{ value: 'open' }] });
        expect([await leader.start(), await leader.end()]).toEqual([0, 4]);
        const { messages, abortedTransactions, lastStableOffset } = await leader.fetch(REQUEST);
        const { producerId } = messages[0] ?? {};
        expect({ lastStableOffset, abortedTransactions }).toEqual({
          lastStableOffset: '4',
          abortedTransactions: [{ producerId, firstOffset: '2' }],
        });
        const transaction = { producerId, inTransaction: true };
        expect(messages).toMatchObject([
          { offset: '0', value: Buffer.from('committed'), headers: { one: Buffer.from('header') }, ...transaction },
          { offset: '1', isControlRecord: true, ...transaction },
          { offset: '2', key: Buffer.from('k'), value: null, isControlRecord: false, ...transaction },
          { offset: '3', isControlRecord: true, ...transaction },
        ]);
        await open.abort();
        expect(await admin.listGroups()).toEqual(groupsBefore);
      });
    } finally {
      await producer.disconnect();
      await admin.disconnect();
    }
  });
}
