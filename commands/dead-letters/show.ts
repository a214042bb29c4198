/** `dead-letters show`: prints cause and payload of each dead letter of a block. */
import { readRows } from '../../infra/postgres/read-rows.ts';
import { UsageError } from '../../schemas/errors.ts';
import { decodeBlocksRecord } from '../../schemas/log-codec.ts';
import { configuredChain, wholeNumber } from '../arguments.ts';
import type { CommandOutcome, Output, StoreContext } from '../command.ts';
import type { InputOf } from '../command-table.ts';
import { deadLetterState, placeOf, readDeadLetter } from './dead-letter.ts';

const SHOW_SQL = `SELECT * FROM dead_letters
  WHERE chain = $1 AND height = $2 AND ($3::integer IS NULL OR ordinal = $3) ORDER BY ordinal`;

/** @throws UsageError for wrong arguments and for a block without dead letters */
export async function run(
  { config, stores, log }: Pick<StoreContext, 'config' | 'stores' | 'log'>,
  input: InputOf<'dead-letters show'>,
  { line }: Output,
): Promise<CommandOutcome> {
  const { name: chain } = configuredChain(config, input.chain);
  const height = wholeNumber(input.height, 'height');
  const ordinal = input.ordinal === undefined ? null : wholeNumber(input.ordinal, 'ordinal');
  const rows = await readRows(stores.postgres.pool, readDeadLetter, SHOW_SQL, [chain, height, ordinal]);
  const [first] = rows;
  if (!first) {
    throw new UsageError(
      `${chain} has no such dead letter at block ${height}; \`verustream dead-letters list ${chain}\` shows all`,
    );
  }
  for (const row of rows) {
    line(`${placeOf(row)}  record ${row.position} of the log`);
    line(`${row.code}: ${row.message}`);
    if (row.payload !== null) line(row.payload);
  }
  // The table does not store a part that is too large, so print its whole block.
  const block = rows.some(({ payload }) => payload === null) ? await blockAt(log, chain, Number(first.position)) : null;
  if (block !== null) line(block);
  const deadLetters = rows.map((row) => ({
    ...deadLetterState(row),
    position: Number(row.position),
    payload: row.payload,
  }));
  return { exitCode: 0, state: { deadLetters, block } };
}

async function blockAt(log: StoreContext['log'], chain: string, position: number): Promise<string | null> {
  const [record] = await log.read('blocks', chain, position, { maxRecords: 1, maxBytes: 1 });
  const block = record && decodeBlocksRecord(record.payload);
  return block?.kind === 'block' ? Buffer.from(block.block).toString() : null;
}
