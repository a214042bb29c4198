/** The stage as the program runs it: next to derive, with one owner, ended by its signal. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createEmbeddedEventLog } from '../../infra/event-log/embedded/embedded-event-log.ts';
import type { EventLog } from '../../infra/event-log/event-log.ts';
import { createTopicReader } from '../../infra/event-log/topic-reader.ts';
import type { Stores } from '../../infra/stores.ts';
import type { StageStatus } from '../../schemas/stage-status.ts';
import { createTestStores } from '../../test/support/infra/test-stores.ts';
import { createFactsFeed, type FactsFeed } from '../../test/support/pipeline/price/facts-feed.ts';
import { recordedDerivation } from '../../test/support/pipeline/price/recorded-derivation.ts';
import { recordedPriceChain } from '../../test/support/pipeline/price/recorded-price-chain.ts';
import { goldenPrices } from '../../test/support/processors/pricing/recorded-pricing.ts';
import { runPrice } from './run-price.ts';

const blocks = recordedDerivation();

describe('runPrice', () => {
  let folder: string;
  let log: EventLog;
  let stores: Stores;
  let feed: FactsFeed;
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'verustream-run-price-'));
    log = createEmbeddedEventLog({ folder });
    stores = await createTestStores();
    feed = await createFactsFeed(log, stores.postgres, 'vrsc');
  });
  afterEach(async () => {
    await stores.close();
    await log.close();
    rmSync(folder, { recursive: true, force: true });
  });

  function start(chains = [recordedPriceChain({ minBasketAge: 20, stableAnchors: goldenPrices().anchors })]) {
    const stop = new AbortController();
    const statuses: StageStatus[] = [];
    const ended = runPrice({
      chains,
      config: { cutover: 0, minBasketDepthUsd: 1000, priceLimits: {} },
      log,
      topics: createTopicReader(log),
      stores,
      logger: pino({ level: 'silent' }),
      status: (_, status) => statuses.push(status),
      signal: stop.signal,
    });
    return { statuses, ended, stop: () => stop.abort() };
  }

  async function until(height: number): Promise<void> {
    for (;;) {
      const { rows } = await stores.postgres.pool.query(
        `SELECT FROM stage_positions WHERE stage = 'price' AND height = $1`,
        [height],
      );
      if (rows.length > 0) return;
      await sleep(25);
    }
  }

  it('follows derive’s commits and rewinds, and ends with its signal', async () => {
    await feed.append(blocks.slice(0, 500));
    const running = start();
    await until(499);
    for (const block of blocks.slice(500, 505)) {
      await feed.append([block]);
      await until(block.height);
    }
    await feed.rewind(501);
    await until(501);
    await feed.append(blocks.slice(502, 520));
    await until(519);
    const { rows } = await stores.postgres.pool.query('SELECT FROM stamps WHERE price_height > 501');
    expect(rows.length).toBeGreaterThan(20);
    await expect
      .poll(() => running.statuses.at(-1))
      .toMatchObject({ state: 'following', height: 519, targetHeight: 519, etaSeconds: 0, error: null });
    running.stop();
    await running.ended;
  });

  it('has one owner at a time, and hands over', async () => {
    await feed.append(blocks.slice(0, 300));
    const first = start();
    await until(299);
    const second = start();
    await feed.append(blocks.slice(300, 400));
    await until(399);
    expect(second.statuses).toEqual([]);
    first.stop();
    await first.ended;
    await feed.append(blocks.slice(400, 500));
    await until(499);
    await expect.poll(() => second.statuses.length).toBeGreaterThan(0);
    second.stop();
    await second.ended;
  });

  it('ends at once while it waits for the lock', async () => {
    const first = start();
    await sleep(300);
    const second = start();
    await sleep(100);
    second.stop();
    await second.ended;
    first.stop();
    await first.ended;
  });

  it('reports a chain that another one holds back as waiting', async () => {
    const main = recordedPriceChain({ minBasketAge: 20, stableAnchors: [] });
    await feed.append(blocks.slice(0, 50));
    const running = start([main, { ...main, name: 'silent' }]);
    await expect
      .poll(() => running.statuses.find(({ state }) => state === 'waiting'))
      .toMatchObject({ height: null, targetHeight: 49, waitsFor: 'silent', aheadBlocks: 50 });
    running.stop();
    await running.ended;
  });
});
