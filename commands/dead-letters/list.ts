/** `dead-letters list`: lists the parts of blocks that could not be decoded. */
import { readRows } from '../../infra/postgres/read-rows.ts';
import { columns, rowReader } from '../../infra/row-reader.ts';
import { configuredChain } from '../arguments.ts';
import type { CommandOutcome, Output, PostgresContext } from '../command.ts';
import type { InputOf } from '../command-table.ts';
import { DEAD_LETTER, deadLetterState, placeOf } from './dead-letter.ts';

const MOST_LISTED = 1000;
const LIST_SQL = `SELECT *, count(*) OVER () AS total FROM dead_letters WHERE chain = ANY($1)
  ORDER BY chain, height, ordinal LIMIT ${MOST_LISTED}`;

const readListed = rowReader({ ...DEAD_LETTER, total: columns.bigint });

export async function run(
  { config, stores }: Pick<PostgresContext, 'config' | 'stores'>,
  { chain }: InputOf<'dead-letters list'>,
  { line }: Output,
): Promise<CommandOutcome> {
  const chains = chain === undefined ? config.chains : [configuredChain(config, chain)];
  const names = chains.map(({ name }) => name);
  const rows = await readRows(stores.postgres.pool, readListed, LIST_SQL, [names]);
  for (const row of rows) line(`${placeOf(row)}  ${row.code}: ${row.message}`);
  const total = Number(rows[0]?.total ?? 0);
  line(total > rows.length ? `${rows.length} of ${total} dead letters` : `${total} dead letters`);
  return { exitCode: 0, state: { total, deadLetters: rows.map(deadLetterState) } };
}
