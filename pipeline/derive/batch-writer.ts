/** Writes a batch to ClickHouse, the facts topic and Postgres; the Postgres commit completes it. */
import { allEnded } from '../../infra/all-ended.ts';
import { metrics } from '../../infra/metrics.ts';
import { readRow } from '../../infra/postgres/read-rows.ts';
import { moveStagePosition, type StagePosition } from '../../infra/postgres/stage-positions.ts';
import { storedColumns } from '../../infra/postgres/stored-columns.ts';
import { rowReader } from '../../infra/row-reader.ts';
import type { Stores } from '../../infra/stores.ts';
import type { ChainContext } from '../../processors/state/chain-state.ts';
import { DEFINITIONS } from '../../schemas/facts.ts';
import type { ChainRewound } from '../../schemas/log-records.ts';
import { insertFacts, rewindTo as rewindClickHouse } from '../sinks/clickhouse/clickhouse-sink.ts';
import type { DerivedBlock } from '../sinks/derived-block.ts';
import { factsByType } from '../sinks/facts-by-type.ts';
import { rewindTo as rewindPostgres, writeFacts } from '../sinks/postgres/postgres-sink.ts';
import { keepRemovedBlocks } from '../sinks/postgres/removed-blocks.ts';
import type { CrashPoint } from '../stage/crash-point.ts';
import type { StageLock } from '../stage/stage-lock.ts';
import { LogDiffers } from './derive-errors.ts';
import type { FactsPublisher } from './facts-publisher.ts';

export interface BatchWriter {
  committed(): StagePosition | null;
  /** Writes one batch; call it for one batch at a time. When it throws before the commit, no write is still in progress. */
  write(blocks: readonly DerivedBlock[]): Promise<void>;
  rewind(record: ChainRewound): Promise<void>;
}

export interface BatchWriterOptions {
  readonly chain: ChainContext;
  readonly stores: Stores;
  readonly lock: StageLock;
  readonly publisher: FactsPublisher | null;
  readonly committed: StagePosition | null;
  readonly crashPoint?: ((point: CrashPoint) => void | Promise<void>) | undefined;
}

const readBlock = rowReader(storedColumns(DEFINITIONS.block, ['hash', 'clock']));

export function createBatchWriter(options: BatchWriterOptions): BatchWriter {
  const { chain, stores, lock, publisher, crashPoint } = options;
  const { clickhouse } = stores;
  const seconds = metrics.batchSeconds.labels({ chain: chain.name, stage: 'derive' });
  let committed = options.committed;

  const passed = async (point: CrashPoint): Promise<void> => crashPoint?.(point);

  return {
    committed: () => committed,

    async write(blocks) {
      const last = blocks.at(-1);
      if (!last) return;
      const stop = seconds.startTimer();
      const facts = factsByType(blocks);
      const { hash, clock } = last.block;
      const next = { position: last.position, height: last.height, hash, clock };

      const intoClickHouse = async (): Promise<void> => {
        const inserted = () => passed('clickhouse_table');
        await insertFacts(clickhouse, facts, { chain: chain.name, nativeCurrencyId: chain.nativeCurrencyId, inserted });
        await passed('clickhouse');
      };
      const intoTopic = async (): Promise<void> => {
        await publisher?.append(blocks, committed);
        await passed('facts');
      };
      await lock.transaction(async (client) => {
        await passed('begin');
        const intoPostgres = async (): Promise<void> => {
          await writeFacts(client, chain.name, facts);
          await moveStagePosition(client, 'derive', chain.name, committed, next);
          await passed('postgres');
        };
        // The order of the three writes does not matter: after a crash before the commit, they are cut back or skipped.
        await allEnded([intoClickHouse(), intoTopic(), intoPostgres()]);
      });
      committed = next;
      stop();
      await lock.inStep();
      await passed('commit');
    },

    async rewind(record) {
      const { position, height, hash } = record;
      const stop = seconds.startTimer();
      let clock = 0;
      await lock.transaction(async (client) => {
        await passed('begin');
        const sql = 'SELECT hash, clock FROM blocks WHERE chain = $1 AND height = $2';
        const block = await readRow(client, readBlock, sql, [chain.name, height]);
        if (block?.hash !== hash) throw new LogDiffers(rewindMessage(chain.name, record, block?.hash));
        clock = Number(block.clock);
        await rewindClickHouse(clickhouse, chain.name, height, position);
        await passed('clickhouse');
        await publisher?.rewind(record, committed);
        await passed('facts');
        await keepRemovedBlocks(client, chain.name, record);
        await rewindPostgres(client, chain.name, height);
        await moveStagePosition(client, 'derive', chain.name, committed, { position, height, hash, clock });
        await passed('postgres');
      });
      committed = { position, height, hash, clock };
      stop();
      await lock.inStep();
      await passed('commit');
    },
  };
}

function rewindMessage(chain: string, { position, height, hash }: ChainRewound, held: string | undefined): string {
  return `Record ${position} of ${chain} rewinds to block ${height} ${hash}, but at that height the stores hold ${held ?? 'none'}.`;
}
