/**
 * The push stream of the whole service over a generated chain: how long a client takes that has missed 10,000 events, and how
 * long a block is under way from the log to the clients while the stages fold it.
 * node benchmarks/stream.bench.ts [missed events = 10000] [clients = 100] [blocks = 200] [blocks a second = 10]
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { encodePlaces } from '../api/push/cursor.ts';
import { startApi } from '../api/server.ts';
import { openStream } from '../client/stream/stream.ts';
import { runStages } from '../commands/run-stages.ts';
import { createTopicReader } from '../infra/event-log/topic-reader.ts';
import { createVerusdClient } from '../infra/verusd/verusd-client.ts';
import { createStageReporter } from '../pipeline/stage/stage-reporter.ts';
import { configOf } from '../test/api/running-service.ts';
import { createChain } from '../test/generator/chain.ts';
import { EVERYTHING } from '../test/generator/mixes.ts';
import { blockRecord } from '../test/laws/chain-records.ts';
import { chainConfig, createTestLog } from '../test/laws/replay.ts';
import { createTestStores } from '../test/support/infra/test-stores.ts';

const CHAIN = 'vrsc';
const SEED = 20261121;
const ALL = ['blocks', 'txs', 'conversions', 'reserves', 'identities'];
const TARGET_MS = 2_000;
const ROUNDS = 5;
const BLOCKS_AT_ONCE = 100;

const [missed = 10_000, clients = 100, blocks = 200, blocksASecond = 10] = process.argv.slice(2).map(Number);

const logger = pino({ level: 'silent' });
const log = await createTestLog();
const stores = await createTestStores();
const config = { ...configOf([chainConfig(CHAIN)]), roles: ['derive', 'price', 'serve'] as const };
const daemons = new Map([[CHAIN, createVerusdClient({ rpc: 'http://127.0.0.1:1', chain: CHAIN, logger })]]);
const reporter = createStageReporter(stores.postgres, logger);
const stop = new AbortController();
const { signal } = stop;
const topics = createTopicReader(log);
const stages = runStages({ config, stores, log, topics, daemons, reporter, logger, signal });
const serve = () => startApi({ config, release: 'benchmark', stores, topics, daemons, logger, signal });
let api = await serve();
const chain = createChain({ seed: SEED, addresses: 100, transactions: 12, mix: EVERYTHING });

const BEGINNING = encodePlaces(new Map([[CHAIN, { position: 0, index: 0 }]]));
const percentile = (values: readonly number[], share: number) =>
  [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? 0;

interface Heard {
  readonly type: string;
  /** -1 for an event that has none. */
  readonly height: number;
  readonly cursor: string;
}

/** Hands over events until `heard` says that it was enough. */
async function follow(cursor: string, channels: readonly string[], heard: (event: Heard) => boolean): Promise<void> {
  for await (const event of openStream({ baseUrl: `http://127.0.0.1:${api.port}`, channels: [...channels], cursor })) {
    if (!('data' in event)) throw new Error('the stream begins anew');
    const height = 'height' in event.data ? event.data.height : -1;
    if (heard({ type: event.type, height, cursor: event.cursor })) return;
  }
}

/** When each height was in the log. */
const appendedAt = new Map<number, number>();

async function append(count: number): Promise<void> {
  const records = Array.from({ length: count }, () => blockRecord(chain.next()));
  await log.append(CHAIN, records);
  for (const { height } of records) appendedAt.set(height, performance.now());
}

/** Until there are so many events that a client from the beginning misses as many as are wanted. */
async function fill(): Promise<void> {
  for (let events = 0; events < missed; ) {
    await append(BLOCKS_AT_ONCE);
    events = 0;
    await follow(BEGINNING, ALL, ({ type, height }) => {
      events += 1;
      return type === 'block' && height === chain.height;
    });
  }
}

/** From the log: a server that has just started holds nothing in memory. */
async function resume(): Promise<void> {
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    await api.close();
    api = await serve();
    let left = missed;
    const began = performance.now();
    await follow(BEGINNING, ALL, () => --left === 0);
    times.push(performance.now() - began);
  }
  const worst = Math.max(...times);
  console.log(
    `resume over ${missed} missed events: median ${percentile(times, 0.5).toFixed(0)} ms, worst ${worst.toFixed(0)} ms of ${ROUNDS}: ` +
      `${(worst / TARGET_MS).toFixed(2)} × the target of ${TARGET_MS} ms`,
  );
}

/** Blocks come at a steady pace; each client tells how long each was under way since it was in the log. */
async function latency(): Promise<void> {
  const latencies: number[] = [];
  const last = chain.height + blocks;
  const from = await atTip();
  const listening = Array.from({ length: clients }, () =>
    follow(from, ['blocks'], ({ height }) => {
      latencies.push(performance.now() - (appendedAt.get(height) ?? 0));
      return height === last;
    }),
  );
  for (let made = 0; made < blocks; made += 1) {
    await append(1);
    await sleep(1000 / blocksASecond);
  }
  await Promise.all(listening);
  console.log(
    `log to client at ${blocksASecond} blocks a second, ${clients} clients: p50 ${percentile(latencies, 0.5).toFixed(0)} ms, ` +
      `p99 ${percentile(latencies, 0.99).toFixed(0)} ms of ${latencies.length}`,
  );
}

/** A cursor behind the newest block. */
async function atTip(): Promise<string> {
  let tip = BEGINNING;
  await follow(BEGINNING, ['blocks'], ({ height, cursor }) => {
    tip = cursor;
    return height === chain.height;
  });
  return tip;
}

try {
  await fill();
  await resume();
  await latency();
} finally {
  stop.abort();
  await api.close();
  await stages;
  await reporter.close();
  for (const client of daemons.values()) await client.close();
  await stores.close();
  await log.drop();
}
