/** Events for clients that connect while a feed without clients still looks for its head, which takes a while on Kafka. */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { expect, it, onTestFinished } from 'vitest';
import { createEmbeddedEventLog } from '../../infra/event-log/embedded/embedded-event-log.ts';
import { createTopicReader } from '../../infra/event-log/topic-reader.ts';
import { RetryableError } from '../../schemas/errors.ts';
import { encodeFactsRecord } from '../../schemas/log-codec.ts';
import { OPEN_TRANSPORT } from '../../test/support/api/push/open-transport.ts';
import type { ServiceState } from '../state/service-state.ts';
import type { StateWatch } from '../state/state-watch.ts';
import { openChainFeed } from './chain-feed.ts';
import { createConnection } from './connection.ts';
import { encodePlaces } from './cursor.ts';
import { factsTopic } from './feed-topic.ts';
import { createHub, type Hub } from './hub.ts';
import { createNetworkShares } from './network-share.ts';
import type { PushConnection } from './push-connection.ts';

const CHAIN = 'vrsc';
const BEFORE = 40;
const AFTER = 60;
const hashOf = (height: number) => String(height).padStart(64, '0');
const LONG = { timeout: 30_000 };
const logger = pino({ level: 'silent' });
const shares = createNetworkShares();

it.each(['takes a while', 'fails at first'])(
  'looking for the head %s: a client gets what is committed after it connected; one that resumes gets all after its cursor',
  async (how) => {
    const folder = await mkdtemp(join(tmpdir(), 'verustream-skip-'));
    const log = createEmbeddedEventLog({ folder });
    const stop = new AbortController();
    const writer = await log.openWriter('facts', CHAIN);
    let derived = new Map<string, { position: number; height: number; hash: string }>();
    const followers = new Set<() => void>();
    const watch = {
      onMove(moved: () => void) {
        followers.add(moved);
        return () => followers.delete(moved);
      },
      get state() {
        return { derived, published: new Map() } as unknown as ServiceState;
      },
      until: async () => undefined,
    } as unknown as StateWatch;
    /** Appends rewinds, each of which is one event. */
    async function commit(upTo: number): Promise<void> {
      const from = (derived.get(CHAIN)?.position ?? -1) + 1;
      for (let height = from; height < upTo; height++) {
        const record = {
          kind: 'rewind',
          position: height,
          source: height,
          fromHeight: height,
          height,
          hash: hashOf(height),
        } as const;
        await writer.append([{ position: height, payload: encodeFactsRecord(record) }]);
      }
      derived = new Map([[CHAIN, { position: upTo - 1, height: upTo - 1, hash: hashOf(upTo - 1) }]]);
      for (const moved of followers) moved();
    }

    const topics = createTopicReader(log);
    const plain = factsTopic(topics, { name: CHAIN, finalityDepth: 100, nativeCurrencyId: 'iNative' });
    const looking = Promise.withResolvers<void>();
    const found = Promise.withResolvers<void>();
    let hasLooked = false;
    let hub: Hub | null = null;
    const { feed, running } = await openChainFeed({
      chain: CHAIN,
      topic: {
        ...plain,
        async head(at) {
          const head = await plain.head(at);
          if (hasLooked || head !== BEFORE) return head;
          hasLooked = true;
          looking.resolve();
          await found.promise;
          if (how === 'fails at first') throw new RetryableError('log_unreachable', 'the log is away');
          return head;
        },
      },
      topics,
      watch,
      logger,
      signal: stop.signal,
      isWanted: () => hub !== null && hub.count() > 0,
      onRecord: (from, record) => hub?.publish(from, record),
      onSkip: (skipped, from) => hub?.skip(skipped, from),
    });
    hub = createHub({ chains: [CHAIN], feeds: [feed], idsOf: (text) => [text], logger });
    onTestFinished(async () => {
      stop.abort();
      await running;
      await log.close();
      await rm(folder, { recursive: true });
    });

    function connect(cursor?: number): { heard: number[]; connection: PushConnection } {
      const heard: number[] = [];
      const connection = createConnection({
        hub: hub as Hub,
        share: shares.open('network'),
        first: {
          channels: ['blocks'],
          ...(cursor !== undefined && { cursor: encodePlaces(new Map([[CHAIN, { position: cursor, index: 0 }]])) }),
        },
        graceMs: 1,
        heartbeatMs: 1e6,
        slowMs: 1e6,
        transport: {
          ...OPEN_TRANSPORT,
          send(json, type) {
            if (type === 'undo') heard.push(JSON.parse(Buffer.from(json as Uint8Array).toString()).data.toHeight);
            return true;
          },
        },
      });
      hub?.add(connection);
      return { heard, connection };
    }

    await commit(BEFORE);
    await looking.promise;
    const live = connect();
    const resumed = connect(BEFORE - 10);
    // The head that the feed has found last: a client that resumes here is live at once.
    const fromTheHead = connect(0);
    found.resolve();
    if (how === 'takes a while') await expect.poll(() => feed.head).toBe(BEFORE);
    await commit(AFTER);

    const heights = (from: number) => Array.from({ length: AFTER - from }, (_, index) => from + index);
    await expect.poll(() => live.heard.at(-1), LONG).toBe(AFTER - 1);
    await expect.poll(() => fromTheHead.heard.at(-1), LONG).toBe(AFTER - 1);
    await expect.poll(() => resumed.heard.at(-1), LONG).toBe(AFTER - 1);
    expect(live.heard).toEqual(heights(BEFORE));
    expect(resumed.heard).toEqual(heights(BEFORE - 10));
    expect(fromTheHead.heard).toEqual(heights(0));
  },
);
