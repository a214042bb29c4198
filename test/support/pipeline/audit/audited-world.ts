/** Chains that are derived and priced in real stores, as input for audits. */

import { pino } from 'pino';
import type { ClickHouse } from '../../../../infra/clickhouse/clickhouse.ts';
import { createTopicReader } from '../../../../infra/event-log/topic-reader.ts';
import { type AuditProgress, type AuditResult, audit } from '../../../../pipeline/audit/audit.ts';
import type { AuditedChain } from '../../../../pipeline/audit/ledger.ts';
import { BATCH_LIMITS } from '../../../../pipeline/price/price-batch.ts';
import type { PriceChain } from '../../../../pipeline/price/price-chain.ts';
import { openPriceStage } from '../../../../pipeline/price/price-stage.ts';
import { pricingRules } from '../../../../pipeline/price/run-price.ts';
import { acquireStageLock } from '../../../../pipeline/stage/stage-lock.ts';
import type { PriceLimitsByCurrency } from '../../../../schemas/config.ts';
import { ALL_CHAINS } from '../../../../schemas/stages.ts';
import type { UnplacedRecord } from '../../../laws/chain-records.ts';
import { createTestLog, deriveToEnd, NATIVE, type TestLog } from '../../../laws/replay.ts';
import { createTestStores, type TestStores } from '../../infra/test-stores.ts';
import { goldenPrices } from '../../processors/pricing/recorded-pricing.ts';

export interface AuditedWorld {
  readonly stores: TestStores;
  readonly log: TestLog;
  readonly chains: readonly AuditedChain[];
  readonly rules: {
    readonly cutover: number;
    readonly minBasketDepthUsd: number;
    readonly priceLimits: PriceLimitsByCurrency;
    readonly stableAnchors: readonly string[];
  };
  /** Derives everything that was appended. No stage is owned afterwards. */
  derive(): Promise<void>;
  /** `clickhouse`: replaces the one of the stores. */
  price(clickhouse?: ClickHouse): Promise<void>;
  /** Derives and prices. */
  fold(): Promise<void>;
  /** Owns the stages as if they were running without work, until the signal aborts. */
  own(signal: AbortSignal): Promise<void>;
  /** All results of one audit. */
  audit(report?: (progress: AuditProgress) => void): Promise<AuditResult[]>;
  close(): Promise<void>;
}

export interface WorldChain {
  readonly name: string;
  readonly nativeCurrencyId?: string;
  readonly records: readonly UnplacedRecord[];
}

export async function createAuditedWorld(world: readonly WorldChain[]): Promise<AuditedWorld> {
  const stores = await createTestStores();
  const log = await createTestLog();
  const { signal } = new AbortController();
  const chains = world.map(({ name, nativeCurrencyId = NATIVE }) => ({ name, nativeCurrencyId }));
  const config = { cutover: 0, minBasketDepthUsd: 1000, priceLimits: {}, stableAnchors: goldenPrices().anchors };
  const priced: PriceChain[] = chains.map((chain) => ({
    ...chain,
    finalityDepth: 100,
    minBasketAge: 20,
    stableAnchors: config.stableAnchors,
  }));
  for (const { name, records } of world) await log.append(name, records);

  async function derive(): Promise<void> {
    for (const { name, nativeCurrencyId } of chains) await deriveToEnd(name, { log, stores, nativeCurrencyId });
  }

  async function price(clickhouse = stores.clickhouse): Promise<void> {
    const lock = await acquireStageLock(stores.postgres, 'price', ALL_CHAINS, signal);
    try {
      const rules = pricingRules(priced, config);
      const logger = pino({ level: 'silent' });
      const used = { postgres: stores.postgres, clickhouse };
      const stage = await openPriceStage({
        chains: priced,
        rules,
        topics: createTopicReader(log),
        stores: used,
        lock,
        publisher: null,
        logger,
        signal,
        limits: BATCH_LIMITS,
      });
      for (;;) {
        const { ticks, records } = await stage.step();
        await lock.inStep();
        if (ticks === 0 && records === 0) return;
      }
    } finally {
      await lock.release();
    }
  }

  return {
    stores,
    log,
    chains,
    rules: config,
    derive,
    price,
    async fold() {
      await derive();
      await price();
    },
    async own(until) {
      const owners = [...chains.map(({ name }) => ['derive', name] as const), ['price', ALL_CHAINS] as const];
      for (const [stage, chain] of owners) {
        const lock = await acquireStageLock(stores.postgres, stage, chain, until);
        await lock.inStep();
        until.addEventListener('abort', () => void lock.release(), { once: true });
      }
    },
    audit: (report) => collect(audit(stores, chains, signal, report)),
    async close() {
      await log.drop();
      await stores.close();
    },
  };
}

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const collected: T[] = [];
  for await (const item of items) collected.push(item);
  return collected;
}
