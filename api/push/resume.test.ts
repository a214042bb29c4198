/** Resumes over a long log whose filter matches nothing, with the real log, decoder, hub and connections. */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createEmbeddedEventLog } from '../../infra/event-log/embedded/embedded-event-log.ts';
import type { EventLog } from '../../infra/event-log/event-log.ts';
import { createTopicReader } from '../../infra/event-log/topic-reader.ts';
import { encodeFactsRecord } from '../../schemas/log-codec.ts';
import { OPEN_TRANSPORT } from '../../test/support/api/push/open-transport.ts';
import { watchLoopTurns } from '../../test/support/infra/loop-turns.ts';
import type { ServiceState } from '../state/service-state.ts';
import type { StateWatch } from '../state/state-watch.ts';
import { type ChainFeed, openChainFeed } from './chain-feed.ts';
import { createConnection } from './connection.ts';
import { encodePlaces } from './cursor.ts';
import { factsTopic } from './feed-topic.ts';
import { createHub, type Hub } from './hub.ts';
import { createNetworkShares } from './network-share.ts';
import type { PushConnection } from './push-connection.ts';

const CHAIN = 'vrsc';
const RECORDS = 20_000;
const AT_ONCE = 1_000;
const BEGINNING = encodePlaces(new Map([[CHAIN, { position: 0, index: 0 }]]));
const hashOf = (height: number) => String(height).padStart(64, '0');
const logger = pino({ level: 'silent' });

let folder: string;
let log: EventLog;
const stop = new AbortController();

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'verustream-resume-'));
  log = createEmbeddedEventLog({ folder });
  const writer = await log.openWriter('facts', CHAIN);
  for (let from = 0; from < RECORDS; from += AT_ONCE) {
    await writer.append(
      Array.from({ length: AT_ONCE }, (_, index) => {
        const height = from + index;
        const hash = hashOf(height);
        const payload = encodeFactsRecord({ kind: 'facts', position: height, source: height, height, hash, facts: [] });
        return { position: height, payload };
      }),
    );
  }
});

afterAll(async () => {
  stop.abort();
  await log.close();
  await rm(folder, { recursive: true });
});

interface World {
  readonly hub: Hub;
  /** Most records decoded in one turn of the event loop. */
  longestRun(): number;
  /** Most milliseconds of CPU between two turns of the event loop. */
  longestTurn(): number;
  decoded(): number;
  end(): void;
}

async function open(): Promise<World> {
  const at = { position: RECORDS - 1, height: RECORDS - 1, hash: hashOf(RECORDS - 1) };
  const state = { derived: new Map([[CHAIN, at]]), published: new Map() } as unknown as ServiceState;
  const watch = { state, until: async () => undefined, onMove: () => () => undefined } as unknown as StateWatch;
  const topics = createTopicReader(log);
  const plain = factsTopic(topics, { name: CHAIN, finalityDepth: 100, nativeCurrencyId: 'iNative' });
  let run = 0;
  let longest = 0;
  let decoded = 0;
  const topic: typeof plain = {
    ...plain,
    read(record) {
      run += 1;
      decoded += 1;
      longest = Math.max(longest, run);
      return plain.read(record);
    },
  };
  const ending = new AbortController();
  const signal = AbortSignal.any([stop.signal, ending.signal]);
  const feeds: ChainFeed[] = [];
  const { feed } = await openChainFeed({
    chain: CHAIN,
    topic,
    topics,
    watch,
    logger,
    signal,
    isWanted: () => false,
    onRecord: () => undefined,
    onSkip: () => undefined,
  });
  feeds.push(feed);
  const hub = createHub({ chains: [CHAIN], feeds, idsOf: (text) => [text], logger });
  const turns = watchLoopTurns(() => {
    run = 0;
  });
  return {
    hub,
    longestRun: () => longest,
    longestTurn: turns.longest,
    decoded: () => decoded,
    end() {
      turns.stop();
      ending.abort();
    },
  };
}

const shares = createNetworkShares();

/** Resolves once the client is at the end of the stream. */
async function resume(hub: Hub, network: string): Promise<void> {
  const connection = createConnection({
    hub,
    share: shares.open(network),
    first: { cursor: BEGINNING, channels: ['addresses'], filter: { address: 'RJvt6CZAzWJEgYd4juBYJzqtmtzAn23c2V' } },
    graceMs: 1,
    heartbeatMs: 1e6,
    slowMs: 1e6,
    transport: { ...OPEN_TRANSPORT, send: () => true },
  });
  hub.add(connection);
  while (!connection.isLive) await new Promise((resolve) => setTimeout(resolve, 5));
  connection.closed();
  hub.remove(connection);
}

describe('a resume that matches nothing', () => {
  it('keeps yielding to the event loop, with one client and with many', async () => {
    for (const clients of [1, 20]) {
      const world = await open();
      await Promise.all(Array.from({ length: clients }, (_, client) => resume(world.hub, `network ${client % 3}`)));
      world.end();
      console.log(
        `${clients} resumes: ${world.decoded()} records decoded, at most ${world.longestRun()} in a turn of the event loop, ` +
          `the longest took ${world.longestTurn().toFixed(0)} ms of CPU`,
      );
      expect(world.decoded()).toBeGreaterThanOrEqual(RECORDS);
      // A slice is 5 ms; no machine of today decodes this many records in one slice.
      expect(world.longestRun()).toBeLessThan(RECORDS / 4);
      expect(world.longestTurn()).toBeLessThan(2_000);
    }
  });
});

describe('a record for a crowd', () => {
  it('is sent to as many clients as there is time for; the others catch up', async () => {
    const world = await open();
    const heard: number[] = [];
    let offered = 0;
    const crowd = Array.from({ length: 40 }, (_, number) => ({
      isLive: true,
      offer() {
        offered += 1;
        const end = performance.now() + 10;
        while (performance.now() < end);
        heard.push(number);
        return true;
      },
      fallBehind: () => void heard.push(number),
    }));
    for (const connection of crowd) world.hub.add(connection as unknown as PushConnection);
    const [feed] = world.hub.feeds;
    if (feed)
      world.hub.publish(feed, { position: RECORDS, change: { kind: 'block', height: RECORDS }, events: [], bytes: 1 });
    world.end();
    expect(offered).toBeLessThan(10);
    expect(heard).toEqual(crowd.map((_, number) => number));
  });
});
