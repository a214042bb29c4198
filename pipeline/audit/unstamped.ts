/** Counts settled conversions of a chain that the served prices have passed and that have no stamp; there must be none. */
import type { Postgres } from '../../infra/postgres/postgres.ts';
import { readRow } from '../../infra/postgres/read-rows.ts';
import { positionsOf } from '../../infra/postgres/stage-positions.ts';
import { columns, rowReader } from '../../infra/row-reader.ts';
import { inSnapshot } from '../stage/snapshot.ts';

export interface UnstampedCount {
  /** Returns the current number, or null before the first price. Old blocks are counted once, the newest every time. */
  count(): Promise<number | null>;
}

/** Number of blocks that are counted every time: more than a rewind removes without the operator's permission. */
const RECENT = 1000;

/** The newest block that prices have passed, provisionally or not. */
const PASSED_SQL = `SELECT price.height, generation
  FROM ${positionsOf('price', 'price_ahead')} price JOIN blocks USING (chain, height, hash), generations
  WHERE price.chain = $1 AND served ORDER BY price.height DESC LIMIT 1`;

/** A settled version of a transfer begins at its import's block; sends are not conversions. */
const COUNT_SQL = `SELECT count(*)::integer AS missing FROM transfers t
  WHERE t.chain = $1 AND t.from_height BETWEEN $2 AND $3 AND t.import_height = t.from_height
    AND t.status IN ('completed', 'refunded') AND t.kind <> 'send'
    AND NOT EXISTS (SELECT 1 FROM stamps s
      WHERE s.generation = $4 AND s.chain = t.chain AND s.txid = t.txid AND s.vout = t.vout)`;

const readPassed = rowReader({ height: columns.number, generation: columns.number });
const readMissing = rowReader({ missing: columns.number });

export function createUnstampedCount(postgres: Postgres, chain: string): UnstampedCount {
  let old = { generation: 0, through: -1, missing: 0 };

  return {
    count: () =>
      inSnapshot(postgres, async (client) => {
        const passed = await readRow(client, readPassed, PASSED_SQL, [chain]);
        // Also null while the stores are on another branch than the prices.
        if (!passed) return null;
        const { height, generation } = passed;
        const missing = async (low: number, high: number): Promise<number> => {
          return (await readRow(client, readMissing, COUNT_SQL, [chain, low, high, generation]))?.missing ?? 0;
        };
        if (old.generation !== generation || old.through > height) old = { generation, through: -1, missing: 0 };
        const through = Math.max(old.through, height - RECENT);
        if (through > old.through) {
          old = { generation, through, missing: old.missing + (await missing(old.through + 1, through)) };
        }
        return old.missing + (await missing(through + 1, height));
      }),
  };
}
