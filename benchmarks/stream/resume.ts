/**
 * The time that a client with many missed events needs, on a generated chain that the stages have processed; and the time of a block from the
 * log to clients that follow it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { encodePlaces } from '../../api/push/cursor.ts';
import { startApi } from '../../api/server.ts';
import { openStream } from '../../client/stream/stream.ts';
import { runStages } from '../../commands/run-stages.ts';
import { createTopicReader } from '../../infra/event-log/topic-reader.ts';
import { createVerusdClient } from '../../infra/verusd/verusd-client.ts';
import { createStageReporter } from '../../pipeline/stage/stage-reporter.ts';
import { configOf } from '../../test/api/running-service.ts';
import { createChain } from '../../test/generator/chain.ts';
import { EVERYTHING } from '../../test/generator/mixes.ts';
import { blockRecord } from '../../test/laws/chain-records.ts';
import { chainConfig, createTestLog } from '../../test/laws/replay.ts';
import { createTestStores } from '../../test/support/infra/test-stores.ts';
import { percentile } from '../percentile.ts';

const CHAIN = 'vrsc';
const SEED = 20261121;
const ALL = ['blocks', 'txs', 'conversions', 'reserves', 'identities'];
const TARGET_MS = 2_000;
const ROUNDS = 5;
const BLOCKS_AT_ONCE = 100;
const BEGINNING = encodePlaces(new Map([[CHAIN, { position: 0, index: 0 }]]));

const BLOCKS_A_SECOND = 10;

interface ResumeOptions {
  readonly missed: number;
  readonly clients: number;
  readonly blocks: number;
}

/** Measures from the log: a server that has just started has nothing in memory. */
export async function measureResume({ missed, clients, blocks }: ResumeOptions): Promise<void> {
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

  /** Passes the events after `cursor` to `heard`, until it returns true. */
  async function follow(
    heard: (type: string, height: number, cursor: string) => boolean,
    cursor = BEGINNING,
    channels = ALL,
  ): Promise<void> {
    for await (const event of openStream({ baseUrl: `http://127.0.0.1:${api.port}`, channels, cursor })) {
      if (!('data' in event)) throw new Error('the stream started over');
      const height = 'height' in event.data ? (event.data.height ?? -1) : -1;
      if (heard(event.type, height, event.cursor)) return;
    }
  }

  /** Records for each client the time of each block since its append to the log. */
  async function latency(): Promise<void> {
    let tip = BEGINNING;
    await follow(
      (_, height, cursor) => {
        tip = cursor;
        return height === chain.height;
      },
      BEGINNING,
      ['blocks'],
    );
    const appended = new Map<number, number>();
    const latencies: number[] = [];
    const last = chain.height + blocks;
    const heard = (_: string, height: number) => {
      latencies.push(performance.now() - (appended.get(height) ?? 0));
      return height === last;
    };
    const listening = Array.from({ length: clients }, () => follow(heard, tip, ['blocks']));
    for (let made = 0; made < blocks; made += 1) {
      await log.append(CHAIN, [blockRecord(chain.next())]);
      appended.set(chain.height, performance.now());
      await sleep(1000 / BLOCKS_A_SECOND);
    }
    await Promise.all(listening);
    console.log(
      `log to client at ${BLOCKS_A_SECOND} blocks a second, ${clients} clients: p50 ${percentile(latencies, 0.5).toFixed(0)} ms, ` +
        `p99 ${percentile(latencies, 0.99).toFixed(0)} ms of ${latencies.length}`,
    );
  }

  try {
    for (let events = 0; events < missed; ) {
      await log.append(
        CHAIN,
        Array.from({ length: BLOCKS_AT_ONCE }, () => blockRecord(chain.next())),
      );
      events = 0;
      await follow((type, height) => {
        events += 1;
        return type === 'block' && height === chain.height;
      });
    }
    const times: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      await api.close();
      api = await serve();
      let left = missed;
      const began = performance.now();
      await follow(() => --left === 0);
      times.push(performance.now() - began);
    }
    const worst = Math.max(...times);
    console.log(
      `resume over ${missed} missed events: median ${percentile(times, 0.5).toFixed(0)} ms, worst ${worst.toFixed(0)} ms of ${ROUNDS}: ` +
        `${(worst / TARGET_MS).toFixed(2)} × the target of ${TARGET_MS} ms`,
    );
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
}
