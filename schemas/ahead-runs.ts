/** Rows beyond the line that every chain's clock has passed, as ClickHouse holds them: in runs, of which Postgres says which count. */

export type AheadTable = 'prices_ahead' | 'conversions_ahead';

export interface AheadRun {
  readonly run: bigint;
  /** Its rows of this tick and later count … */
  readonly fromTick: bigint;
  /** … up to this one. */
  readonly throughTick: bigint;
  /** Whether it may hold a conversion that a run with a smaller number holds too: then its own row is the one that counts. */
  readonly corrects: boolean;
}

/** What stands after FROM for the rows of the runs. `condition` must not tell one row of a conversion from another. */
export function aheadRowsSql(table: AheadTable, runs: readonly AheadRun[], condition = 'true'): string {
  const rows = `SELECT * FROM ${table} WHERE ${condition} AND ${inRunsSql(runs)}`;
  const isCorrected = table === 'conversions_ahead' && runs.some(({ corrects }) => corrects);
  return isCorrected ? `(${rows} ORDER BY run DESC LIMIT 1 BY generation, chain, txid, vout)` : `(${rows})`;
}

/** The list of runs alone lets ClickHouse leave out whole partitions. */
function inRunsSql(runs: readonly AheadRun[]): string {
  if (runs.length === 0) return 'false';
  const spans = runs.map(
    ({ run, fromTick, throughTick }) => `run = ${run} AND tick BETWEEN ${fromTick} AND ${throughTick}`,
  );
  return `run IN (${runs.map(({ run }) => run).join(', ')}) AND (${spans.join(' OR ')})`;
}
