/** A column of heights, each a link to the block. */
import { hrefOf } from '../addresses.ts';
import type { Column } from './table.tsx';

/** `at` is the member with the height of a block of the chain. */
export function blockColumn<At extends string>(
  head: string,
  at: At,
  chain: string,
): Column<{ readonly [Height in At]: string }> {
  return { head, at, as: 'integer', href: (row) => hrefOf('block', { chain, block: row[at] }) };
}
