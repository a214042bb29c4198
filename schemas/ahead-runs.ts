/** Rows beyond the line that every chain's clock has passed. ClickHouse stores them in runs; Postgres records which runs count. */

/** Ticks of provisional rows begin here, so that they sort after every complete one: schemas/postgres/0019-price-ahead.sql. */
export const FIRST_AHEAD_TICK = 2 ** 40;

export type AheadTable = 'prices_ahead' | 'conversions_ahead';

export interface AheadRun {
  readonly run: bigint;
  /** First tick of the run whose rows count. */
  readonly fromTick: bigint;
  /** Last tick of the run whose rows count. */
  readonly throughTick: bigint;
  /** Whether it may contain a conversion that a run with a smaller number contains too: then this run's row counts. */
  readonly corrects: boolean;
}

/** Returns what follows FROM to read the rows of the runs. `condition` must not distinguish between rows of one conversion. */
export function aheadRowsSql(table: AheadTable, runs: readonly AheadRun[], condition = 'true'): string {
  const rows = `SELECT * FROM ${table} WHERE ${condition} AND ${inRunsSql(runs)}`;
  const isCorrected = table === 'conversions_ahead' && runs.some(({ corrects }) => corrects);
  return isCorrected ? `(${rows} ORDER BY run DESC LIMIT 1 BY generation, chain, txid, vout)` : `(${rows})`;
}

/** `run IN (…)` repeats what the spans state, so that ClickHouse can skip whole partitions. */
function inRunsSql(runs: readonly AheadRun[]): string {
  if (runs.length === 0) return 'false';
  const spans = runs.map(
    ({ run, fromTick, throughTick }) => `run = ${run} AND tick BETWEEN ${fromTick} AND ${throughTick}`,
  );
  return `run IN (${runs.map(({ run }) => run).join(', ')}) AND (${spans.join(' OR ')})`;
}
