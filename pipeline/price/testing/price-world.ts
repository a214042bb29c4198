/** Stores and a log of their own, fed by hand, with the price stage run on them as often as a test wants. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import type { ClickHouse } from '../../../infra/clickhouse/clickhouse.ts';
import { createEmbeddedEventLog } from '../../../infra/event-log/embedded/embedded-event-log.ts';
import type { EventLog } from '../../../infra/event-log/event-log.ts';
import type { Stores } from '../../../infra/stores.ts';
import { createTestStores } from '../../../infra/testing/test-stores.ts';
import type { PriceLimitsByCurrency } from '../../../schemas/config.ts';
import { acquireStageLock, type StageLock } from '../../stage-lock.ts';
import type { BatchLimits } from '../price-batch.ts';
import type { PriceChain } from '../price-chain.ts';
import { ALL_CHAINS, openPriceStage, type PriceStage } from '../price-stage.ts';
import { pricingRules } from '../run-price.ts';
import { openStampsPublisher, type StampsPublisher } from '../stamps-publisher.ts';
import { createFactsFeed, type FactsFeed } from './facts-feed.ts';

export interface PriceWorld {
  readonly stores: Stores;
  readonly log: EventLog;
  readonly feeds: readonly FactsFeed[];
  /** Steps of a freshly opened stage until it has nothing to do, or until `steps` are made. */
  run(
    options?: Partial<BatchLimits> & {
      readonly steps?: number;
      readonly crashPoint?: () => void;
      readonly chains?: readonly PriceChain[];
    },
  ): Promise<PriceStage>;
  close(): Promise<void>;
}

export interface WorldOptions {
  readonly chains: readonly PriceChain[];
  readonly cutover: number;
  readonly minBasketDepthUsd: number;
  readonly priceLimits?: PriceLimitsByCurrency;
  /** Whether ClickHouse gets blocks and states as well, as derive gives them. */
  readonly withStates?: boolean;
}

export async function createPriceWorld({ chains, withStates = false, ...config }: WorldOptions): Promise<PriceWorld> {
  const folder = mkdtempSync(join(tmpdir(), 'verustream-price-'));
  const log = createEmbeddedEventLog({ folder });
  const stores = await createTestStores();
  const feeds: FactsFeed[] = [];
  for (const { name } of chains) {
    feeds.push(await createFactsFeed(log, stores.postgres, name, withStates ? stores.clickhouse : undefined));
  }
  return {
    stores,
    log,
    feeds,
    async run({ steps = Number.POSITIVE_INFINITY, crashPoint = () => {}, chains: used = chains, ...limits } = {}) {
      const { signal } = new AbortController();
      const lock = await acquireStageLock(stores.postgres, 'price', ALL_CHAINS, signal);
      const limited = crashingLock(lock, crashPoint);
      let publisher: StampsPublisher | null = null;
      try {
        publisher = await openStampsPublisher(crashingLog(log, crashPoint), limited, used);
        const stage = await openPriceStage({
          chains: used,
          rules: pricingRules(used, { priceLimits: {}, ...config }),
          log,
          stores: { postgres: stores.postgres, clickhouse: crashingClickHouse(stores.clickhouse, crashPoint) },
          lock: limited,
          publisher,
          logger: pino({ level: 'silent' }),
          signal,
          limits: { maxTicks: 5000, maxRows: 50_000, maxQueued: 5000, ...limits },
        });
        for (let step = 0; step < steps; step++) {
          const { ticks, records } = await stage.step();
          if (ticks === 0 && records === 0) break;
        }
        return stage;
      } finally {
        await publisher?.close();
        await lock.release();
      }
    },
    async close() {
      await stores.close();
      await log.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Gives the chance to die around every statement that changes something, and on both sides of every commit. */
export function crashingClickHouse(clickhouse: ClickHouse, crashPoint: () => void): ClickHouse {
  const around = async (work: () => Promise<void>) => {
    crashPoint();
    await work();
    crashPoint();
  };
  return {
    ...clickhouse,
    insert: (table, columns, rows) => around(() => clickhouse.insert(table, columns, rows)),
    command: (sql, params) => around(() => clickhouse.command(sql, params)),
  };
}

export function crashingLock(lock: StageLock, crashPoint: () => void): StageLock {
  return {
    ...lock,
    async transaction(work) {
      const result = await lock.transaction(async (client) => {
        const done = await work(client);
        crashPoint();
        return done;
      });
      crashPoint();
      return result;
    },
  };
}

/** The same around every append. */
function crashingLog(log: EventLog, crashPoint: () => void): Pick<EventLog, 'openWriter' | 'read'> {
  return {
    read: log.read,
    async openWriter(topic, chain) {
      const writer = await log.openWriter(topic, chain);
      return {
        get next() {
          return writer.next;
        },
        async append(records) {
          crashPoint();
          await writer.append(records);
          crashPoint();
        },
        close: () => writer.close(),
      };
    },
  };
}

/** Every committed row of the stage in both stores and one generation, without its number and those of the ticks; sorted. */
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
    const held = await clickhouse.query<Record<string, unknown>>(
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
