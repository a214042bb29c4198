/** The two audited ledgers: facts, which follow a chain's blocks, and stamps, which follow the ticks of all chains. */
import type { PoolClient } from 'pg';
import { readRow } from '../../infra/postgres/read-rows.ts';
import { positionsOf, readStagePosition } from '../../infra/postgres/stage-positions.ts';
import { columns, rowReader } from '../../infra/row-reader.ts';
import { ALL_CHAINS } from '../../schemas/stages.ts';
import type { Writer } from '../stage/pause-stages.ts';
import { FACT_TABLES } from './audited-facts.ts';
import { type AuditedTable, STAMP_TABLES } from './audited-tables.ts';

export interface AuditedChain {
  readonly name: string;
  readonly nativeCurrencyId: string;
}

/** How far both stores are committed. */
export interface Committed {
  readonly height: number;
  /** Rows up to this height change only by a rewind. */
  readonly settledHeight: number;
  readonly generation: number;
  /** The newest tick. */
  readonly tick: bigint;
}

export interface AuditLedger {
  readonly name: 'facts' | 'stamps';
  readonly tables: readonly AuditedTable[];
  /** Returns the stages that may change the rows of this ledger. */
  writers(chain: string): readonly Writer[];
  /** Returns null while nothing can be compared. */
  committed(client: PoolClient, chain: string): Promise<Committed | null>;
  /** SQL for a text that changes when a rewind has removed any row up to height $2 ($3 is the newest tick). */
  readonly witness: string;
  /** SQL for the kept digests of chain $1 (generation $4), as (height, digest). */
  readonly kept: string;
  /** SQL for the newest kept digest up to height $2, of generation $3. */
  readonly newestKept: string;
  /** SQL that keeps `ends` (height, digest); $5 is the newest tick. */
  readonly keep: string;
}

export const FACTS: AuditLedger = {
  name: 'facts',
  tables: FACT_TABLES,
  writers: (chain) => [{ stage: 'derive', chain }],
  async committed(client, chain) {
    const at = await readStagePosition(client, 'derive', chain);
    return at && { height: at.height, settledHeight: at.height, generation: 0, tick: 0n };
  },
  witness: `SELECT xmin::text AS witness FROM blocks WHERE chain = $1 AND height = $2 AND $3::bigint IS NOT NULL`,
  kept: `SELECT height, digest FROM fact_digests WHERE chain = $1`,
  newestKept: `SELECT height, digest FROM fact_digests WHERE chain = $1 AND height <= $2 AND $3::integer IS NOT NULL
    ORDER BY height DESC LIMIT 1`,
  keep: `INSERT INTO fact_digests (chain, height, digest, position)
    SELECT $1, height, ends.digest, position FROM ends JOIN blocks USING (height) WHERE chain = $1`,
};

const readCommitted = rowReader({
  height: columns.number,
  provisional_from: columns.nullable(columns.number),
  generation: columns.number,
  tick: columns.bigint,
});

export const STAMPS: AuditLedger = {
  name: 'stamps',
  tables: STAMP_TABLES,
  writers: (chain) => [
    { stage: 'derive', chain },
    { stage: 'price', chain: ALL_CHAINS },
  ],
  /** Also returns null while prices have not followed derive to another branch or to blocks derived again. */
  async committed(client, chain) {
    const row = await readRow(
      client,
      readCommitted,
      `SELECT price.height, generation, (SELECT max(tick) FROM price_ticks) AS tick,
         (SELECT min(p.height) FROM stamps s JOIN price_ticks p USING (tick)
          WHERE s.generation = generations.generation AND s.chain = $1 AND s.provisional) AS provisional_from
       FROM ${positionsOf('price')} price JOIN blocks USING (chain, height, hash) JOIN price_ticks tick USING (chain, height),
         generations
       WHERE price.chain = $1 AND served AND age(tick.xmin) <= age(blocks.xmin)`,
      [chain],
    );
    if (!row) return null;
    const settledHeight = row.provisional_from === null ? row.height : row.provisional_from - 1;
    return { height: row.height, settledHeight, generation: row.generation, tick: row.tick };
  },
  witness: `SELECT concat_ws(' ', blocks.xmin, price_ticks.xmin) AS witness FROM blocks, price_ticks
    WHERE blocks.chain = $1 AND blocks.height = $2 AND price_ticks.tick = $3`,
  kept: `SELECT height, digest FROM stamp_digests WHERE chain = $1 AND generation = $4`,
  newestKept: `SELECT height, digest FROM stamp_digests WHERE chain = $1 AND height <= $2 AND generation = $3
    ORDER BY height DESC LIMIT 1`,
  keep: `INSERT INTO stamp_digests (generation, chain, height, digest, tick) SELECT $4, $1, height, digest, $5 FROM ends`,
};
