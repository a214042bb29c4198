/** Webhooks of this process: turns the events of each chain into deliveries, and sends the deliveries. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { TopicReader } from '../../infra/event-log/topic-reader.ts';
import type { Logger } from '../../infra/logger.ts';
import { createPace } from '../../infra/pace.ts';
import type { Postgres } from '../../infra/postgres/postgres.ts';
import { pause, repeatUntil } from '../../infra/repeat-until.ts';
import { createWakeUp } from '../../infra/wake-up.ts';
import type { Config } from '../../schemas/config.ts';
import type { KeyOwner } from '../access/key-store.ts';
import { ApiError } from '../http/api-error.ts';
import { eventChain } from '../push/events-of-record.ts';
import type { Names } from '../push/names.ts';
import type { NetworkShares } from '../push/network-share.ts';
import type { StateWatch } from '../state/state-watch.ts';
import { createActiveWebhooks } from './active-webhooks.ts';
import { enqueueEvents } from './enqueue-events.ts';
import { factsSource, stampsSource, type WebhookEventSource } from './event-source.ts';
import { createPriceCrossings } from './price-crossings.ts';
import { createResolve, resolveBySystem } from './resolve-name.ts';
import { runTurns } from './run-turns.ts';
import { createSender, type SenderOptions } from './send-message.ts';
import { sweep } from './sweep.ts';
import type { TurnOptions } from './take-turn.ts';
import { openTurnQueue, type TurnQueue } from './turn-queue.ts';
import { interestWork, type WebhookSubscription } from './webhook.ts';

export interface WebhookTiming {
  readonly delaysMs?: TurnOptions['delaysMs'];
  readonly timeoutMs?: SenderOptions['timeoutMs'];
}

export interface WebhooksOptions {
  readonly config: Pick<Config, 'chains' | 'webhookLocalReceivers'>;
  readonly release: string;
  readonly postgres: Postgres;
  readonly topics: TopicReader;
  readonly watch: StateWatch;
  readonly names: Names;
  readonly shares: Pick<NetworkShares, 'order'>;
  readonly logger: Logger;
  readonly timing?: WebhookTiming | undefined;
}

export interface Webhooks {
  readonly queue: TurnQueue;
  readonly names: Names;
  /** Waits until an identity's allowance covers hashing its filter. @throws ApiError invalid_parameter, rate_limited */
  turn(holder: KeyOwner, asked: WebhookSubscription): Promise<void>;
  /** Call it after a delivery became due, or a webhook was created or changed. */
  wake(): void;
  close(): Promise<void>;
}

const WAIT_MS = 1_000;
const RETRY_MS = 1_000;
/** Interval between two checks of prices, however many blocks bring prices. */
const PRICES_MS = 1_000;
/** For webhooks that another process has created or changed. */
const IDLE_MS = 5_000;
const SWEEP_MS = 60_000;
/** Events are decoded and matched within a transaction, which lets other work run but does not wait idly. */
const PACE = { sliceMs: 5, restMs: 0 };

export async function openWebhooks(options: WebhooksOptions): Promise<Webhooks> {
  const { config, release, postgres, topics, watch, names, logger, timing = {} } = options;
  const chains = config.chains.map(({ name }) => name);
  const queue = await openTurnQueue(postgres, logger);
  const sender = createSender({
    allowLocal: config.webhookLocalReceivers,
    logger,
    userAgent: `verustream/${release}`,
    resolve: config.webhookLocalReceivers ? resolveBySystem : createResolve(),
    ...timing,
  });
  const stop = new AbortController();
  const { signal } = stop;
  const turns = runTurns({ postgres, queue, sender, chains, logger, signal, ...timing });
  const activeWebhooks = createActiveWebhooks({ chains, postgres, names, logger });
  const lookAtPrices = createPriceCrossings({ postgres, queue, activeWebhooks });
  const pace = createPace(PACE);
  const webhooksChanged = createWakeUp();
  let webhookChanges = 0;
  const pricesChanged = createWakeUp();
  /** Whether prices may have changed since the last check began. */
  let mayHavePrices = false;

  function notifyPrices(): void {
    mayHavePrices = true;
    pricesChanged.wakeAll();
  }

  function wake(): void {
    turns.wake();
    webhookChanges += 1;
    webhooksChanged.wakeAll();
    notifyPrices();
  }

  async function followPrices(): Promise<void> {
    mayHavePrices = false;
    if ((await lookAtPrices()) > 0) turns.wake();
    await pause(PRICES_MS, signal);
    if (!mayHavePrices) await pricesChanged.sleep(IDLE_MS, signal);
  }

  async function untilMore(source: WebhookEventSource, next: number): Promise<void> {
    const { topic, chain } = source;
    await topics.waitFor(topic, chain, next, WAIT_MS, signal);
    const mark = await source.markAt(topics, next);
    if (mark === null) return;
    // A record is in the topic shortly before the commit that releases it. The records of a redrive have earlier marks than the last one.
    await watch.until(({ derived, published }) => {
      return ((topic === 'facts' ? derived.get(chain)?.position : published.get(chain)) ?? -1) >= mark;
    }, signal);
  }

  async function follow(source: WebhookEventSource): Promise<void> {
    const changesBefore = webhookChanges;
    const enqueued = await enqueueEvents({ source, postgres, topics, queue, activeWebhooks, pace, logger });
    if (enqueued.woken > 0) turns.wake();
    if (enqueued.records > 0) return;
    if (enqueued.next !== null) await untilMore(source, enqueued.next);
    else if (webhookChanges === changesBefore) await webhooksChanged.sleep(IDLE_MS, signal);
  }

  const repeat = (what: string, work: () => Promise<void>): Promise<void> =>
    repeatUntil(signal, work, {
      retryMs: RETRY_MS,
      onError: (err) => logger.warn({ err }, `${what}; trying again`),
    });

  const unfollow = watch.onMove(notifyPrices);
  const running = [
    ...config.chains
      .flatMap((chain) => [factsSource(eventChain(chain)), stampsSource(chain.name)])
      .map((source) => repeat(`${source.topic} of ${source.chain} for webhooks cannot be read`, () => follow(source))),
    repeat('prices for webhooks cannot be read', followPrices),
    repeat('webhook deliveries could not be swept', async () => {
      await sweep(postgres, queue, config.chains, logger);
      turns.wake();
      await pause(SWEEP_MS, signal);
    }),
  ];
  return {
    queue,
    names,
    async turn({ chain, identityAddress }, asked) {
      const ms = options.shares.order(`identity ${chain} ${identityAddress}`, interestWork(asked));
      const stopped = (cause: unknown) => new ApiError('unavailable', 'the server stops', { cause });
      await sleep(ms, undefined, { signal }).catch((error: unknown) => Promise.reject(stopped(error)));
    },
    wake,
    async close() {
      stop.abort();
      unfollow();
      await Promise.all(running);
      await turns.stopped;
      await sender.close();
      await queue.close();
    },
  };
}
