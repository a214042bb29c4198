/** Stores and a log that a test fills, with the price stage run on them as often as the test wants. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import type { ClickHouse } from '../../../../infra/clickhouse/clickhouse.ts';
import { createEmbeddedEventLog } from '../../../../infra/event-log/embedded/embedded-event-log.ts';
import type { EventLog } from '../../../../infra/event-log/event-log.ts';
import { createTopicReader } from '../../../../infra/event-log/topic-reader.ts';
import type { Stores } from '../../../../infra/stores.ts';
import { BATCH_LIMITS, type BatchLimits } from '../../../../pipeline/price/price-batch.ts';
import type { PriceChain } from '../../../../pipeline/price/price-chain.ts';
import { openPriceStage, type PriceStage } from '../../../../pipeline/price/price-stage.ts';
import { pricingRules } from '../../../../pipeline/price/run-price.ts';
import { openStampsPublisher, type StampsPublisher } from '../../../../pipeline/price/stamps-publisher.ts';
import { acquireStageLock, type StageLock } from '../../../../pipeline/stage/stage-lock.ts';
import type { PriceLimitsByCurrency } from '../../../../schemas/config.ts';
import { ALL_CHAINS } from '../../../../schemas/stages.ts';
import { createTestStores } from '../../infra/test-stores.ts';
import { createFactsFeed, type FactsFeed } from './facts-feed.ts';

export interface PriceWorld {
  readonly stores: Stores;
  readonly log: EventLog;
  readonly feeds: readonly FactsFeed[];
  /** Steps a freshly opened stage until it has nothing to do or has made `steps` steps. */
  run(options?: RunOptions & { readonly steps?: number }): Promise<PriceStage>;
  /** Opens a stage that stays open. */
  open(options?: RunOptions): Promise<OpenStage>;
  close(): Promise<void>;
}

export interface RunOptions extends Partial<BatchLimits> {
  readonly crashPoint?: CrashPoint;
  readonly chains?: readonly PriceChain[];
  /** Settings that differ from the world's. */
  readonly changed?: Partial<Pick<WorldOptions, 'cutover' | 'minBasketDepthUsd'>>;
}

/** The stage crashes when this throws, and waits when it returns a promise. */
type CrashPoint = () => void | Promise<void>;

export interface OpenStage {
  readonly stage: PriceStage;
  /** Steps until there is nothing to do, or `steps` times. `each` is called after every step. */
  settle(steps?: number, each?: () => void): Promise<void>;
  close(): Promise<void>;
}

export interface WorldOptions {
  readonly chains: readonly PriceChain[];
  readonly cutover: number;
  readonly minBasketDepthUsd: number;
  readonly priceLimits?: PriceLimitsByCurrency;
  /** Whether ClickHouse also gets blocks and states, as from derive. */
  readonly withStates?: boolean;
}

export async function createPriceWorld({ chains, withStates = false, ...config }: WorldOptions): Promise<PriceWorld> {
  const folder = mkdtempSync(join(tmpdir(), 'verustream-price-'));
  const log = createEmbeddedEventLog({ folder });
  const topics = createTopicReader(log);
  const stores = await createTestStores();
  const feeds: FactsFeed[] = [];
  for (const { name } of chains) {
    feeds.push(await createFactsFeed(log, stores.postgres, name, withStates ? stores.clickhouse : undefined));
  }
  async function open({
    crashPoint = () => {},
    chains: used = chains,
    changed = {},
    ...limits
  }: RunOptions = {}): Promise<OpenStage> {
    const { signal } = new AbortController();
    const lock = await acquireStageLock(stores.postgres, 'price', ALL_CHAINS, signal);
    const limited = crashingLock(lock, crashPoint);
    let publisher: StampsPublisher | null = null;
    const close = async () => {
      await publisher?.close();
      await lock.release();
    };
    try {
      publisher = await openStampsPublisher(crashingLog(log, crashPoint), topics, limited, used);
      const stage = await openPriceStage({
        chains: used,
        rules: pricingRules(used, { priceLimits: {}, ...config, ...changed }),
        topics,
        stores: { postgres: stores.postgres, clickhouse: crashingClickHouse(stores.clickhouse, crashPoint) },
        lock: limited,
        publisher,
        logger: pino({ level: 'silent' }),
        signal,
        limits: { ...BATCH_LIMITS, ...limits },
      });
      return {
        stage,
        async settle(steps, each) {
          await settle(stage, steps, each);
          await lock.inStep();
        },
        close,
      };
    } catch (error) {
      await close();
      throw error;
    }
  }

  return {
    stores,
    log,
    feeds,
    open,
    async run({ steps, ...options } = {}) {
      const { stage, settle, close } = await open(options);
      try {
        await settle(steps);
        return stage;
      } finally {
        await close();
      }
    },
    async close() {
      await stores.close();
      await log.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function settle(stage: PriceStage, steps = Number.POSITIVE_INFINITY, each = () => {}): Promise<void> {
  for (let step = 0; step < steps; step++) {
    const { ticks, records, isAheadMoved, pauseMs } = await stage.step();
    each();
    if (ticks > 0 || records > 0 || isAheadMoved) continue;
    if (pauseMs === 0) return;
    await sleep(pauseMs);
  }
}

/** Adds a crash point around every statement that changes data, and on both sides of every commit. */
export function crashingClickHouse(clickhouse: ClickHouse, crashPoint: CrashPoint): ClickHouse {
  const around = async (work: () => Promise<void>) => {
    await crashPoint();
    await work();
    await crashPoint();
  };
  return {
    ...clickhouse,
    insert: (table, columns, rows) => around(() => clickhouse.insert(table, columns, rows)),
    command: (sql, params) => around(() => clickhouse.command(sql, params)),
  };
}

export function crashingLock(lock: StageLock, crashPoint: CrashPoint): StageLock {
  return {
    ...lock,
    async transaction(work) {
      const result = await lock.transaction(async (client) => {
        const done = await work(client);
        await crashPoint();
        return done;
      });
      await crashPoint();
      return result;
    },
  };
}

/** Adds a crash point around every append. */
function crashingLog(log: EventLog, crashPoint: CrashPoint): Pick<EventLog, 'openWriter'> {
  return {
    async openWriter(topic, chain) {
      const writer = await log.openWriter(topic, chain);
      return {
        get next() {
          return writer.next;
        },
        packing: writer.packing,
        async append(records) {
          await crashPoint();
          await writer.append(records);
          await crashPoint();
        },
        close: () => writer.close(),
      };
    },
  };
}

/** Every committed row of the stage in both stores and one generation, without generation and tick numbers; sorted. */
export async function allRows(
  { postgres, clickhouse }: Pick<Stores, 'postgres' | 'clickhouse'>,
  generation = 1,
): Promise<Record<string, string[]>> {
  const rows: Record<string, string[]> = {};
  for (const table of ['stamps', 'price_ticks', 'backfill_prices', 'prices']) {
    const { rows: held } = await postgres.pool.query<{ row: string }>(
      `SELECT (to_jsonb(t) - 'tick' - 'facts_position' - 'generation')::text AS row FROM ${table} AS t
       WHERE tick <= (SELECT max(tick) FROM price_ticks)
       ${table === 'price_ticks' ? '' : `AND generation = ${generation}`}`,
    );
    rows[table] = held.map(({ row }) => row).sort();
  }
  for (const table of ['prices', 'conversions']) {
    const held = await clickhouse.query(
      `SELECT * EXCEPT (tick, generation) FROM ${table} WHERE generation = ${generation}`,
    );
    rows[`clickhouse ${table}`] = held.map((row) => JSON.stringify(row)).sort();
  }
  const { rows: positions } = await postgres.pool.query(
    `SELECT chain, height, hash, clock::text FROM stage_positions WHERE stage = 'price' ORDER BY chain`,
  );
  rows.positions = positions.map((row) => JSON.stringify(row));
  return rows;
}
