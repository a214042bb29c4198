/** The push stream of this process: feeds, clients, heartbeats. */

import type { TopicReader } from '../../infra/event-log/topic-reader.ts';
import type { Logger } from '../../infra/logger.ts';
import { metrics } from '../../infra/metrics.ts';
import type { Config } from '../../schemas/config.ts';
import type { Mempools } from '../mempool/mempools.ts';
import type { WithSnapshot } from '../state/snapshot.ts';
import type { StateWatch } from '../state/state-watch.ts';
import { type ChainFeed, openChainFeed } from './chain-feed.ts';
import type { SubscribeMessage } from './client-message.ts';
import { createConnection } from './connection.ts';
import { createCurrencyReader } from './currency-reader.ts';
import type { FeedTopicName } from './cursor.ts';
import { eventChain } from './events-of-record.ts';
import { type FeedTopic, factsTopic, stampsTopic } from './feed-topic.ts';
import { createHub, type Hub } from './hub.ts';
import type { Names } from './names.ts';
import { createNetworkShares, type NetworkShare, type NetworkShares } from './network-share.ts';
import type { PushConnection } from './push-connection.ts';
import { createSnapshots } from './snapshots.ts';
import { tickConnections } from './tick-connections.ts';
import type { Transport } from './transport.ts';

export interface PushOptions {
  readonly config: Pick<Config, 'chains'>;
  readonly topics: TopicReader;
  readonly watch: StateWatch;
  readonly withSnapshot: WithSnapshot;
  readonly names: Names;
  readonly logger: Logger;
  readonly mempools?: Mempools;
  readonly graceMs?: number;
  readonly heartbeatMs?: number;
  readonly slowMs?: number;
}

export interface Push {
  readonly shares: NetworkShares;
  /** `first`: the subscription in the URL of the stream. */
  connect(transport: Transport, first: Omit<SubscribeMessage, 'op' | 'id'>, share: NetworkShare): PushConnection;
  disconnect(connection: PushConnection): void;
  /** For GET /api/stream, which checks a subscription before it answers with a status. */
  readonly hub: Hub;
  clients(): number;
  /** Ends every stream; `stopped` settles once the readers have stopped. */
  close(): void;
  readonly stopped: Promise<void>;
}

const GRACE_MS = 250;
const HEARTBEAT_MS = 15_000;
const SLOW_MS = 10_000;
const GOING_AWAY = 1001;

export async function createPush(options: PushOptions): Promise<Push> {
  const { config, topics, watch, names, logger } = options;
  const stop = new AbortController();
  const chains = config.chains.map((chain) => chain.name);
  const eventChains = config.chains.map(eventChain);
  const nativeIds = new Map(eventChains.map(({ name, nativeCurrencyId }) => [name, nativeCurrencyId]));
  const running: Promise<void>[] = [];
  const feeds: ChainFeed[] = [];
  let hub: Hub | null = null;
  const openFeed = async <T extends FeedTopicName>(chain: string, topic: FeedTopic<T>): Promise<ChainFeed> => {
    const opened = await openChainFeed({
      chain,
      topic,
      topics,
      watch,
      logger,
      signal: stop.signal,
      isWanted: () => hub !== null && hub.count() > 0,
      onRecord: (feed, record) => hub?.publish(feed, record),
      onSkip: (feed, from) => hub?.skip(feed, from),
    }).catch((error: unknown) => {
      stop.abort(); // ends the feeds that are open already
      throw error;
    });
    feeds.push(opened.feed);
    running.push(opened.running);
    return opened.feed;
  };
  for (const of of eventChains) {
    const chain = of.name;
    const facts = await openFeed(chain, factsTopic(topics, of));
    await openFeed(
      chain,
      stampsTopic(chain, () => facts.head),
    );
  }
  const { withSnapshot } = options;
  const takeSnapshot = createSnapshots({
    chains: eventChains,
    feeds,
    topics,
    withSnapshot,
    state: () => watch.state,
  });
  const mempools = [...(options.mempools?.all() ?? [])];
  const made = createHub({
    chains,
    feeds,
    idsOf: names.idsOf,
    readCurrencies: createCurrencyReader({ names, logger }),
    takeSnapshot,
    logger,
    mempools,
    nativeIds,
  });
  hub = made;
  const wakeAll = () => {
    for (const connection of made.connections()) connection.wake();
  };
  const unfollow = mempools.map((journal) => journal.onChange(wakeAll));
  const stopTicks = tickConnections(made.connections);
  const timing = {
    graceMs: options.graceMs ?? GRACE_MS,
    heartbeatMs: options.heartbeatMs ?? HEARTBEAT_MS,
    slowMs: options.slowMs ?? SLOW_MS,
  };
  return {
    hub: made,
    shares: createNetworkShares(),
    connect(transport, first, share) {
      const connection = createConnection({ hub: made, transport, first, share, ...timing });
      made.add(connection);
      metrics.websocketClients.set(made.count());
      return connection;
    },
    disconnect(connection) {
      connection.closed();
      made.remove(connection);
      metrics.websocketClients.set(made.count());
    },
    clients: () => made.count(),
    close() {
      stopTicks();
      for (const stopFollowing of unfollow) stopFollowing();
      for (const connection of made.connections()) connection.end(GOING_AWAY, 'the server stops');
      stop.abort();
    },
    stopped: Promise.all(running).then(() => undefined),
  };
}
