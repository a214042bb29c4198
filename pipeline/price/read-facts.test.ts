import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { TopicEntry, TopicReader } from '../../infra/event-log/topic-reader.ts';
import { emptyView } from '../../processors/pricing/chain-view.ts';
import type { FactsRecord } from '../../schemas/log-records.ts';
import { blockFact } from '../../test/support/pipeline/sinks/made-facts.ts';
import type { ChainCursor } from './price-chain.ts';
import { readFacts } from './read-facts.ts';

const CHAIN = { name: 'c', stableAnchors: [], finalityDepth: 100, minBasketAge: 20, nativeCurrencyId: 'i' };

/** Records of the topic so far, and how often it was read. */
function createTopic() {
  const records: FactsRecord[] = [];
  let reads = 0;
  const read = async (_topic: string, _chain: string, position: number): Promise<TopicEntry<'facts'>[]> => {
    reads += 1;
    return records.slice(position).map((record) => ({ position: record.position, bytes: 1, record: () => record }));
  };
  return { records, topics: { read } as unknown as Pick<TopicReader, 'read'>, reads: () => reads };
}

const cursorOf = (): ChainCursor => ({
  chain: CHAIN,
  ticked: null,
  view: emptyView('c'),
  queue: [],
  next: 0,
  readThrough: -1,
  isAtEnd: false,
  derivedHeight: null,
});

function factsAt(position: number, source: number): FactsRecord {
  const block = blockFact(source);
  return { kind: 'facts', position, source, height: source, hash: block.hash, facts: [block] };
}

async function readTo(topic: ReturnType<typeof createTopic>, cursor: ChainCursor, committed: number) {
  const derived = new Map([['c', { position: committed, height: committed }]]);
  const result = await readFacts(
    topic.topics,
    cursor,
    derived,
    1000,
    () => false,
    () => undefined,
  );
  return { ...result, isAtEnd: cursor.isAtEnd };
}

/** A batch reaches the topic, derive commits all of the topic, or derive restarts some blocks before its commit. */
const act = fc.oneof(
  fc.record({ act: fc.constant('append' as const), count: fc.integer({ min: 1, max: 4 }) }),
  fc.record({ act: fc.constant('commit' as const), count: fc.constant(0) }),
  fc.record({ act: fc.constant('redrive' as const), count: fc.integer({ min: 0, max: 3 }) }),
);

it('reads the same at each moment, whatever it remembers about uncommitted records', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(act, { minLength: 1, maxLength: 40 }), async (acts) => {
      const topic = createTopic();
      const [cursor, forgetful] = [cursorOf(), cursorOf()];
      let committed = -1;
      let source = -1;
      for (const { act: what, count } of acts) {
        if (what === 'commit') committed = source;
        if (what === 'append') {
          for (let index = 0; index < count; index += 1) topic.records.push(factsAt(topic.records.length, ++source));
        }
        if (what === 'redrive' && source >= 0) {
          const fromHeight = source;
          committed = Math.max(-1, committed - count);
          source = committed;
          const { hash } = blockFact(Math.max(0, source));
          topic.records.push({
            kind: 'rewind',
            position: topic.records.length,
            source,
            height: source,
            hash,
            fromHeight,
          });
        }
        for (;;) {
          delete forgetful.withheld;
          const found = await readTo(topic, cursor, committed);
          expect(found).toEqual(await readTo(topic, forgetful, committed));
          expect([cursor.next, cursor.queue]).toEqual([forgetful.next, forgetful.queue]);
          if (found.records === 0) break;
        }
      }
    }),
  );
});

it('does not read the topic again until derive has committed what it found there', async () => {
  const topic = createTopic();
  const cursor = cursorOf();
  topic.records.push(...[0, 1, 2, 3].map((at) => factsAt(at, at)));
  expect((await readTo(topic, cursor, 1)).records).toBe(2);
  for (let look = 0; look < 3; look += 1) expect((await readTo(topic, cursor, 1)).records).toBe(0);
  expect(topic.reads()).toBe(1);
  expect((await readTo(topic, cursor, 3)).records).toBe(2);
  expect(topic.reads()).toBe(2);
});
