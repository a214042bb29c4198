/** Reports the dead letters of a chain: a log line for each, and a metric of their number. */
import type { Pool } from 'pg';
import type { Logger } from '../../infra/logger.ts';
import { metrics } from '../../infra/metrics.ts';
import { readRow } from '../../infra/postgres/read-rows.ts';
import { columns, rowReader } from '../../infra/row-reader.ts';
import type { DerivedBlock } from '../sinks/derived-block.ts';

export interface DeadLetterReport {
  /** Call when the blocks are in the stores. */
  written(blocks: readonly DerivedBlock[]): Promise<void>;
  /** Counts the stored dead letters for the metric. */
  count(): Promise<void>;
}

/** Most log lines for a batch; further dead letters are only counted. */
const MOST_LINES = 20;

const readCount = rowReader({ count: columns.bigint });

export function createDeadLetterReport(pool: Pool, chain: string, logger: Logger): DeadLetterReport {
  async function count(): Promise<void> {
    const row = await readRow(pool, readCount, 'SELECT count(*) FROM dead_letters WHERE chain = $1', [chain]);
    metrics.deadLetters.set({ chain }, Number(row?.count ?? 0));
  }

  return {
    count,
    async written(blocks) {
      const found = blocks.flatMap(({ height, position, facts }) =>
        facts.flatMap((fact) => (fact.type === 'dead_letter' ? [{ height, position, fact }] : [])),
      );
      if (found.length === 0) return;
      for (const { height, position, fact } of found.slice(0, MOST_LINES)) {
        const { scope, txid, n, code, message } = fact;
        logger.warn({ chain, height, position, scope, txid, n, code }, `dead letter: ${message}`);
      }
      if (found.length > MOST_LINES) logger.warn({ chain }, `and ${found.length - MOST_LINES} more dead letters`);
      await count();
    },
  };
}
