/**
 * Law: a receiver that applies the deliveries in their order holds the chain, whatever was read in one batch, whichever process read
 * it, and whichever transactions were rolled back; a held delivery is released once it is confirmed, and never before.
 */

import fc from 'fast-check';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { EventLog } from '../../infra/event-log/event-log.ts';
import { LogGap } from '../../infra/event-log/log-errors.ts';
import { createTopicReader, type TopicReader } from '../../infra/event-log/topic-reader.ts';
import type { Pace } from '../../infra/pace.ts';
import {
  encodeFactsRecord,
  encodeStampList,
  encodeStampsAppended,
  encodeStampsCorrected,
  encodeStampsRewound,
} from '../../schemas/log-codec.ts';
import type { FactsRecord } from '../../schemas/log-records.ts';
import { VALUED_STAMP } from '../../test/support/api/push/valued-stamp.ts';
import { createTestStores, type TestStores } from '../../test/support/infra/test-stores.ts';
import { blockFact } from '../../test/support/pipeline/sinks/made-facts.ts';
import type { ActiveWebhook } from './active-webhooks.ts';
import { insertDeliveries } from './delivery-rows.ts';
import { enqueueEvents } from './enqueue-events.ts';
import { factsSource, stampsSource } from './event-source.ts';
import { createInterest } from './webhook.ts';

const RUNS = Number(process.env.ENQUEUE_RUNS ?? 30);
const CHAIN = 'c';
const CONFIRMATIONS = 3;
const interest = createInterest({ events: ['block'], chains: null, filter: {}, thresholds: [] }, [CHAIN], () => []);
const byValue = createInterest(
  { events: ['conversion.completed'], chains: null, filter: { minUsd: '0' }, thresholds: [] },
  [CHAIN],
  () => [],
);
const elsewhere = createInterest(
  { events: ['block'], chains: ['other'], filter: {}, thresholds: [] },
  [CHAIN, 'other'],
  () => [],
);
const OF = { name: CHAIN, finalityDepth: 100, nativeCurrencyId: 'iNative' };
const SOURCES = [factsSource(OF), stampsSource(CHAIN)];
/** Webhooks of both topics: a rewind of one topic does not revert deliveries of the other. */
const webhooks: readonly ActiveWebhook[] = [
  { id: 'now', confirmations: 0, since: -1, ...interest },
  { id: 'later', confirmations: CONFIRMATIONS, since: -1, ...interest },
  { id: 'value now', confirmations: 0, since: -1, ...byValue },
  { id: 'value later', confirmations: CONFIRMATIONS, since: -1, ...byValue },
  { id: 'elsewhere', confirmations: 0, since: -1, ...elsewhere },
];

let stores: TestStores;
beforeAll(async () => {
  stores = await createTestStores();
});
afterAll(() => stores?.close());

const query = (sql: string, values: unknown[] = []) => stores.postgres.pool.query(sql, values);

interface Block {
  readonly height: number;
  readonly hash: string;
  /** Greatest height of the chain while the block was part of it. */
  tip: number;
  /** USD value of its conversion. */
  value: number;
}

/** A chain with topics in a log in memory. Each block has one record per topic: its facts, and a conversion with a value. */
function createChain() {
  const topics: Record<string, Uint8Array[]> = { facts: [], stamps: [] };
  const { facts: records = [], stamps = [] } = topics;
  const blocks: Block[] = [];
  let oldest = 0;
  let made = 0;
  const log = {
    last: async (topic: string) => {
      const held = topics[topic] ?? [];
      const payload = held.at(-1);
      return payload ? { position: held.length - 1, payload } : null;
    },
    read: async (topic: string, _chain: string, position: number, { maxRecords }: { maxRecords: number }) => {
      if (position < oldest) throw new LogGap(`${position} is gone`);
      return (topics[topic] ?? [])
        .slice(position, position + maxRecords)
        .map((payload, index) => ({ position: position + index, payload }));
    },
  } as unknown as EventLog;
  const append = (record: object) => {
    const place = { position: records.length, source: records.length };
    records.push(encodeFactsRecord({ ...place, ...record } as FactsRecord));
  };
  /** Height of the chain after each record of `stamps`. */
  const heights: number[] = [];
  const listOf = ({ height, hash, value }: Pick<Block, 'height' | 'hash' | 'value'>) => {
    const stamp = { ...VALUED_STAMP, txid: hash, importHeight: height, usdValue: String(value) };
    return encodeStampList({ prices: [], stamps: [stamp] });
  };
  const publish = (encode: (place: { position: number; source: number }) => Uint8Array) => {
    stamps.push(encode({ position: stamps.length, source: stamps.length }));
    heights.push(blocks.length - 1);
  };
  const head = ({ height, hash }: Block) => ({ height, hash, time: 0 });
  return {
    topics: createTopicReader(log),
    blocks,
    add() {
      const height = blocks.length;
      const hash = (made++).toString(16).padStart(64, '0');
      append({ kind: 'facts', height, hash, facts: [{ ...blockFact(height), hash }] });
      const block = { height, hash, tip: height, value: 1 };
      blocks.push(block);
      publish((place) => encodeStampsAppended({ ...place, ...head(block), provisional: true }, listOf(block)));
      for (const block of blocks) block.tip = Math.max(block.tip, height);
    },
    /** Corrects the block `depth` below the newest; a change of 0 only ends `provisional`. */
    correct(depth: number, change: number) {
      const block = blocks[Math.max(0, blocks.length - 1 - depth)] as Block;
      const was = listOf(block);
      block.value += change;
      publish((place) =>
        encodeStampsCorrected(
          { ...place, ...head(block), wasProvisional: true, provisional: false },
          was,
          listOf(block),
        ),
      );
      append({ kind: 'facts', height: blocks.length - 1, hash: '', facts: [] }); // one record of each topic for each step
    },
    rewind(depth: number) {
      const fromHeight = blocks.length - 1;
      if (fromHeight < 1) return;
      blocks.splice(Math.max(1, blocks.length - depth));
      const { height, hash } = blocks.at(-1) as Block;
      append({ kind: 'rewind', height, hash, fromHeight });
      publish((place) => encodeStampsRewound({ kind: 'rewind', ...place, height, hash, fromHeight, reason: 'reorg' }));
    },
    forget: () => {
      oldest = records.length - 1;
    },
    /** Commits all but the newest `behind` records of a topic. */
    commit: (stage: 'derive' | 'told', behind: number) =>
      query(
        `INSERT INTO stage_positions VALUES ($3, $1, $2, $4, '', 0)
         ON CONFLICT (stage, chain) DO UPDATE SET position = EXCLUDED.position, height = EXCLUDED.height
           WHERE stage_positions.position < EXCLUDED.position`,
        [CHAIN, records.length - 1 - behind, stage, heights[records.length - 1 - behind] ?? -1],
      ),
  };
}

async function begin(): Promise<void> {
  await query('TRUNCATE webhooks, webhook_deliveries, webhook_cursors, webhook_price_sides, stage_positions');
  await query(
    `INSERT INTO webhooks (id, chain, identity_address, url, description, asked, confirmations, secret, since)
     SELECT id, 'c', 'i', 'https://receiver.example', '', '{}', 0, '', '{}' FROM unnest($1::text[]) AS made(id)`,
    [webhooks.map(({ id }) => id)],
  );
}

/** Rests at every opportunity. */
const pace: Pace = { sliceMs: 0, isSpent: () => true, rest: () => Promise.resolve() };

const enqueue = (
  topics: TopicReader,
  breaks = false,
  source = SOURCES[0] ?? factsSource(OF),
  active = webhooks,
  atPace = pace,
) =>
  enqueueEvents({
    source,
    postgres: stores.postgres,
    topics,
    queue: {
      wake: async () => {
        if (breaks) throw new Error('broken off');
      },
    },
    activeWebhooks: { prepare: async () => undefined, read: async () => active },
    pace: atPace,
    logger: pino({ level: 'silent' }),
  });

type Standing = Pick<Block, 'height' | 'hash'> & { readonly value?: number };

/** Blocks, or values, that a receiver holds after it has applied its deliveries in order. */
async function held(webhookId: string): Promise<Standing[]> {
  const sql = `SELECT id, body FROM webhook_deliveries WHERE webhook_id = $1 AND state <> 'held' ORDER BY serial`;
  const standing = new Map<string, Standing>();
  for (const { id, body } of (await query(sql, [webhookId])).rows) {
    const { type, reverts, data } = JSON.parse(body);
    if (type === 'block') standing.set(id, { height: data.height, hash: data.hash });
    else if (type === 'conversion.completed')
      standing.set(id, { height: data.importHeight, hash: data.txid, value: data.usdValue });
    else expect([type.endsWith('.reverted'), standing.delete(reverts)]).toEqual([true, true]);
  }
  return [...standing.values()].sort((a, b) => a.height - b.height);
}

const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('add' as const), count: fc.integer({ min: 1, max: 6 }) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('rewind' as const), count: fc.integer({ min: 1, max: 6 }) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('derive' as const, 'told' as const), count: fc.nat(4) }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('enqueue' as const), count: fc.integer({ min: 1, max: 3 }) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('correct' as const), count: fc.nat(8) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('break' as const), count: fc.constant(1) }) },
);

it(`${RUNS} histories`, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 25 }), async (steps) => {
      await begin();
      const chain = createChain();
      chain.add();
      for (const { kind, count } of steps) {
        if (kind === 'add') grow(chain, count);
        else if (kind === 'rewind') chain.rewind(count);
        else if (kind === 'correct') chain.correct(count >> 1, count % 2);
        else if (kind === 'derive' || kind === 'told') await chain.commit(kind, count);
        else if (kind === 'break')
          for (const source of SOURCES) await enqueue(chain.topics, true, source).catch(() => undefined);
        else await Promise.all(Array.from({ length: count }, (_, n) => enqueue(chain.topics, false, SOURCES[n % 2])));
      }
      for (const stage of ['told', 'derive'] as const) await chain.commit(stage, 0);
      for (const source of SOURCES) while ((await enqueue(chain.topics, false, source)).records > 0);
      const place = ({ height, hash }: Block) => ({ height, hash });
      const valued = ({ value, ...block }: Block) => ({ ...place({ value, ...block }), value });
      expect(await held('now')).toEqual(chain.blocks.map(place));
      expect(await held('value now')).toEqual(chain.blocks.map(valued));
      const confirmed = chain.blocks.filter(({ height, tip }) => tip >= height + CONFIRMATIONS);
      expect(await held('later')).toEqual(confirmed.map(place));
      expect(await held('value later')).toEqual(confirmed.map(valued));
      expect(await held('elsewhere')).toEqual([]);
    }),
    { numRuns: RUNS },
  );
});

function grow(chain: ReturnType<typeof createChain>, blocks: number): void {
  for (let made = 0; made < blocks; made++) chain.add();
}

it('a correction in a backlog releases nothing that a later rewind reverts', async () => {
  await begin();
  const chain = createChain();
  grow(chain, 6);
  await chain.commit('told', 0);
  const [, stamps] = SOURCES;
  await enqueue(chain.topics, false, stamps);
  chain.correct(0, 1);
  chain.rewind(3);
  grow(chain, 6);
  await chain.commit('told', 0);
  await enqueue(chain.topics, false, stamps);
  const kinds = `SELECT kind, count(*)::int4 AS count FROM webhook_deliveries WHERE webhook_id = 'value later' AND state <> 'held' GROUP BY kind`;
  expect((await query(kinds)).rows).toEqual([{ kind: 'conversion.completed', count: 6 }]);
});

it('a branch that is gone confirms no price of the current one', async () => {
  await begin();
  const chain = createChain();
  grow(chain, 6);
  await chain.commit('derive', 0);
  await enqueue(chain.topics);
  grow(chain, 3);
  chain.rewind(5);
  chain.add();
  await chain.commit('derive', 0);
  const place = { chain: CHAIN, height: null, releaseHeight: 4 + CONFIRMATIONS, body: '{}', reverts: null };
  const crossing = { id: 'crossing', webhookId: 'later', kind: 'price.threshold', ...place };
  await stores.postgres.transaction((client) => insertDeliveries(client, [crossing]));
  const state = async () =>
    (await query(`SELECT state FROM webhook_deliveries WHERE id = 'crossing'`)).rows.map((row) => row.state);
  await enqueue(chain.topics);
  expect(await state()).toEqual(['held']);
  grow(chain, CONFIRMATIONS);
  await chain.commit('derive', 0);
  await enqueue(chain.topics);
  expect(await state()).toEqual(['pending']);
});

it('a corrected value is sent at once if its block is confirmed and no block follows', async () => {
  await begin();
  const chain = createChain();
  grow(chain, 6);
  await chain.commit('told', 0);
  const [, stamps] = SOURCES;
  const block = chain.blocks[1] as Block;
  const unvalued = webhooks.map((webhook) => ({ ...webhook, since: 5 }));
  await enqueue(chain.topics, false, stamps, unvalued);
  chain.correct(4, 1);
  await chain.commit('told', 0);
  await enqueue(chain.topics, false, stamps, unvalued);
  expect(await held('value later')).toEqual([{ height: 1, hash: block.hash, value: 2 }]);
});

it('sends a resync for events that the log no longer has, and continues after them', async () => {
  await begin();
  const chain = createChain();
  chain.add();
  await chain.commit('derive', 0);
  await enqueue(chain.topics);
  grow(chain, 5);
  chain.forget();
  await chain.commit('derive', 0);
  expect(await enqueue(chain.topics)).toMatchObject({ woken: 4 });
  const { rows } = await query(`SELECT webhook_id FROM webhook_deliveries WHERE kind = 'resync' ORDER BY webhook_id`);
  expect(rows.map((row) => row.webhook_id)).toEqual(['later', 'now', 'value later', 'value now']);
  chain.add();
  await chain.commit('derive', 0);
  expect(await enqueue(chain.topics)).toMatchObject({ records: 1 });
  const kinds = `SELECT kind FROM webhook_deliveries WHERE webhook_id = 'now' ORDER BY serial`;
  expect((await query(kinds)).rows.map(({ kind }) => kind)).toEqual(['block', 'resync', 'block']);
});

it('stops at the first record that is not committed, though later ones are: marks step back if a stage starts again', async () => {
  await begin();
  const chain = createChain();
  grow(chain, 6);
  await chain.commit('derive', 0);
  const source = SOURCES[0] ?? factsSource(OF);
  const steppingBack: typeof source = {
    ...source,
    read: async (topics, position, atPace) =>
      (await source.read(topics, position, atPace)).map((record, index) =>
        position + index === 2 || position + index === 3 ? { ...record, mark: 1_000 } : record,
      ),
  };
  expect(await enqueue(chain.topics, false, steppingBack)).toMatchObject({ records: 2, next: 2 });
  expect(await enqueue(chain.topics, false, steppingBack)).toMatchObject({ records: 0, next: 2 });
  expect(await enqueue(chain.topics)).toMatchObject({ records: 4, next: 6 });
  expect(await held('now')).toHaveLength(6);
});

it('pauses between records that it decodes, and between the webhooks that events are matched with', async () => {
  await begin();
  const chain = createChain();
  grow(chain, 20);
  await chain.commit('derive', 0);
  await query(`INSERT INTO webhook_cursors (topic, chain, position) VALUES ('facts', $1, 0)`, [CHAIN]);
  let decoded = 0;
  let matched = 0;
  const since = { decoded: 0, matched: 0 };
  const most = { decoded: 0, matched: 0 };
  const pause = () => {
    most.decoded = Math.max(most.decoded, decoded - since.decoded);
    most.matched = Math.max(most.matched, matched - since.matched);
    Object.assign(since, { decoded, matched });
  };
  const topics: TopicReader = {
    ...chain.topics,
    async read(...where) {
      const entries = await chain.topics.read(...where);
      return entries.map((entry) => ({
        ...entry,
        record() {
          decoded += 1;
          return entry.record();
        },
      }));
    },
  };
  const deaf = Array.from({ length: 2_000 }, (_, number) => ({
    id: `deaf ${number}`,
    confirmations: 0,
    since: -1,
    ...interest,
    kindOf: () => {
      matched += 1;
      return null;
    },
  }));
  const resting: Pace = {
    sliceMs: 0,
    isSpent: () => true,
    async rest() {
      pause();
    },
  };
  expect(await enqueue(topics, false, SOURCES[0], deaf, resting)).toMatchObject({ records: 20 });
  pause();
  expect([decoded, matched]).toEqual([20, 20 * deaf.length]);
  expect(most.decoded).toBe(1);
  expect(most.matched).toBeLessThanOrEqual(500);
});

it.each(SOURCES)('markAt() returns the mark with which a record of $topic is read', async (source) => {
  const chain = createChain();
  grow(chain, 3);
  const records = await source.read(chain.topics, 0, pace);
  const marks = await Promise.all([0, 1, 2, 3].map((position) => source.markAt(chain.topics, position)));
  expect(marks).toEqual([...records.map(({ mark }) => mark), null]);
});
