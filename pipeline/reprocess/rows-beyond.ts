/** Rows beyond the complete line, which only the fold writes: a generation that has become ready gets them with the fold's next commit. */
import type { Postgres } from '../../infra/postgres/postgres.ts';
import { readRow } from '../../infra/postgres/read-rows.ts';
import { columns, rowReader } from '../../infra/row-reader.ts';
import { FIRST_AHEAD_TICK } from '../../schemas/ahead-runs.ts';
import { ALL_CHAINS } from '../../schemas/stages.ts';
import { ownedStages } from '../stage/pause-stages.ts';

const beyond = (generation: string) => `SELECT FROM stamps WHERE generation = ${generation} AND tick >= $3`;
const LACKS_SQL = `SELECT EXISTS (${beyond('$1')}) AND NOT EXISTS (${beyond('$2')}) AS lacks`;
const readLacks = rowReader({ lacks: columns.boolean });

/** Whether a running fold has written such rows for the base but not yet for the generation. */
export async function isAwaited(
  { pool }: Postgres,
  { base, generation }: { readonly base: number; readonly generation: number },
): Promise<boolean> {
  const row = await readRow(pool, readLacks, LACKS_SQL, [base, generation, FIRST_AHEAD_TICK]);
  return row?.lacks === true && (await ownedStages(pool, [{ stage: 'price', chain: ALL_CHAINS }])).length > 0;
}
