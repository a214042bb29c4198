/** The service on the recording of two chains; the test appends to the log what their daemons would have sent. */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { type ApiOptions, startApi } from '../../api/server.ts';
import type { StoreContext } from '../../commands/command.ts';
import { runStages } from '../../commands/run-stages.ts';
import { parseExact, stringifyExact } from '../../domain/json/exact-json.ts';
import { createEmbeddedEventLog } from '../../infra/event-log/embedded/embedded-event-log.ts';
import { createTopicReader } from '../../infra/event-log/topic-reader.ts';
import { createVerusdClient } from '../../infra/verusd/verusd-client.ts';
import { createStageReporter } from '../../pipeline/stage/stage-reporter.ts';
import { DERIVE_TABLES } from '../../pipeline/verify/digest-tables.ts';
import { type Digests, postgresDigests } from '../../pipeline/verify/store-digests.ts';
import type { Config } from '../../schemas/config.ts';
import { encodeBlocksRecord } from '../../schemas/log-codec.ts';
import { recordedFile, rewindRecord, type UnplacedRecord } from '../laws/chain-records.ts';
import { createTestStores } from '../support/infra/test-stores.ts';
import { PAIRED_CHAINS } from '../support/processors/chain-pair.ts';
import { chainOf, configOf } from './running-service.ts';
import type { LooseJson } from './truth.ts';

export const SIDES = ['root', 'pchain'] as const;
export type PairedSide = (typeof SIDES)[number];

export interface PairedService {
  /** The context of commands while it runs. */
  readonly context: StoreContext;
  readonly url: string;
  readonly tips: Readonly<Record<PairedSide, number>>;
  /** Takes the chain to the block at `height` of the recording, forwards or by a rewind. */
  go(side: PairedSide, height: number): Promise<void>;
  /** Waits until everything that is in the log is in the stores; prices wait until both chains have passed them. */
  settled(): Promise<void>;
  /** Digests of the derived tables of a chain. */
  digests(side: PairedSide): Promise<Digests>;
  stop(): Promise<void>;
}

export interface PairedOptions {
  /** I-addresses; by default root's own coin. */
  readonly stableAnchors?: readonly string[];
  /** Seconds since the epoch. */
  readonly cutover?: number;
  readonly datasets?: Config['datasets'];
  readonly page?: ApiOptions['page'];
  /** Changes a block of pchain before it is appended to the log. */
  readonly change?: { readonly height: number; readonly by: (block: LooseJson) => void };
}

function withChange(record: UnplacedRecord, change: PairedOptions['change']): UnplacedRecord {
  if (record.kind !== 'block' || record.height !== change?.height) return record;
  const block: LooseJson = parseExact(Buffer.from(record.block).toString());
  change.by(block);
  return { ...record, block: Buffer.from(stringifyExact(block)) };
}

export async function startPairedService({
  stableAnchors = [PAIRED_CHAINS.root.nativeCurrencyId],
  cutover,
  datasets,
  page,
  change,
}: PairedOptions = {}): Promise<PairedService> {
  const logger = pino({ level: process.env.TEST_LOG_LEVEL ?? 'silent' });
  const folder = await mkdtemp(join(tmpdir(), 'verustream-pair-'));
  const stores = await createTestStores();
  const log = createEmbeddedEventLog({ folder });
  const nowhere = 'http://127.0.0.1:1';
  const config = {
    ...configOf([
      chainOf({ name: 'root', rpc: nowhere, rootCurrency: 'VRSCTEST', stableAnchors }),
      chainOf({ name: 'pchain', rpc: nowhere, rootCurrency: 'pchain', stableAnchors: [] }),
    ]),
    roles: ['derive', 'price', 'serve'] as const,
    ...(cutover !== undefined && { cutover }),
    ...(datasets && { datasets }),
  };
  const daemons = new Map(SIDES.map((chain) => [chain, createVerusdClient({ rpc: nowhere, chain, logger })]));
  const reporter = createStageReporter(stores.postgres, logger);
  const stop = new AbortController();
  const { signal } = stop;
  const topics = createTopicReader(log);
  const stages = runStages({ config, stores, log, topics, daemons, reporter, logger, signal });
  const api = await startApi({
    config,
    release: 'test',
    stores,
    topics,
    daemons,
    logger,
    signal,
    ...(page && { page }),
  });

  const blocks = {
    root: recordedFile('../pbaas/root/blocks.jsonl.gz'),
    pchain: recordedFile('../pbaas/pchain/blocks.jsonl.gz').map((record) => withChange(record, change)),
  };
  const writers = { root: await log.openWriter('blocks', 'root'), pchain: await log.openWriter('blocks', 'pchain') };
  const at: Record<PairedSide, number> = { root: -1, pchain: -1 };

  async function append(side: PairedSide, records: readonly UnplacedRecord[]): Promise<void> {
    const first = writers[side].next;
    const placed = records.map((record, index) => ({ ...record, position: first + index }));
    await writers[side].append(
      placed.map((record) => ({ position: record.position, payload: encodeBlocksRecord(record) })),
    );
  }

  async function standsAt(side: PairedSide): Promise<boolean> {
    const { rows } = await stores.postgres.pool.query<{ hash: string }>(
      `SELECT hash FROM stage_positions WHERE stage = 'derive' AND chain = $1 AND height = $2`,
      [side, at[side]],
    );
    return rows[0]?.hash === blocks[side][at[side]]?.hash;
  }

  return {
    context: { config, stores, log, logger, signal },
    url: `http://127.0.0.1:${api.port}`,
    tips: { root: blocks.root.length - 1, pchain: blocks.pchain.length - 1 },
    async go(side, height) {
      if (height < at[side]) await append(side, [rewindRecord(blocks[side], height, at[side])]);
      else await append(side, blocks[side].slice(at[side] + 1, height + 1));
      at[side] = height;
    },
    async settled() {
      for (let tries = 0; tries < 2400; tries++) {
        const known = SIDES.filter((side) => at[side] >= 0);
        const there = await Promise.all(known.map(standsAt));
        if (there.every(Boolean)) return;
        await sleep(50);
      }
      throw new Error(`the stages did not reach ${JSON.stringify(at)} in two minutes`);
    },
    digests: (side) => postgresDigests(stores.postgres.pool, DERIVE_TABLES, { chain: side }),
    async stop() {
      stop.abort();
      await api.close();
      await stages;
      await reporter.close();
      for (const writer of Object.values(writers)) await writer.close();
      for (const client of daemons.values()) await client.close();
      await log.close();
      await stores.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
