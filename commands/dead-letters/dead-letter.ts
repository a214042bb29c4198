/** Formats a row of the dead letters as a line of text and as JSON. */

import { storedColumns } from '../../infra/postgres/stored-columns.ts';
import { columns, type RowRead, rowReader } from '../../infra/row-reader.ts';
import { DEFINITIONS } from '../../schemas/facts.ts';

export const DEAD_LETTER = {
  chain: columns.text,
  height: columns.number,
  ...storedColumns(DEFINITIONS.dead_letter, ['ordinal', 'scope', 'txid', 'n', 'code', 'message', 'payload']),
  position: columns.bigint,
};
export const readDeadLetter = rowReader(DEAD_LETTER);
export type DeadLetterRow = RowRead<typeof readDeadLetter>;

export function placeOf({ chain, height, ordinal, scope, txid, n }: DeadLetterRow): string {
  const part = scope === 'block' ? '' : ` ${txid ?? '(no txid)'}${n === null ? '' : `:${n}`}`;
  return `${chain}  ${height}/${ordinal}  ${scope}${part}`;
}

export function deadLetterState({ chain, height, ordinal, scope, txid, n, code, message }: DeadLetterRow): object {
  return { chain, height, ordinal, scope, txid, n, code, message };
}
