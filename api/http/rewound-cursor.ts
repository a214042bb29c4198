/** Checks that a cursor is still valid: the chain must still have the block that the cursor depends on. */

import { storedColumns } from '../../infra/postgres/stored-columns.ts';
import { hexParam } from '../../infra/postgres/values.ts';
import { columns, rowReader } from '../../infra/row-reader.ts';
import { DEFINITIONS } from '../../schemas/facts.ts';
import { INT32_MAX } from '../../schemas/integers.ts';
import type { Snapshot } from '../state/snapshot.ts';
import { ApiError } from './api-error.ts';
import { type Cursor, type CursorValue, encodeCursor, type KeyKind } from './cursor.ts';
import type { KeyColumn, ListSource } from './list-source.ts';

/** @throws ApiError cursor_rewound */
export async function refuseRewound(
  read: Snapshot,
  after: Cursor,
  { key, pinned }: Pick<ListSource<never, never>, 'key' | 'pinned'>,
): Promise<void> {
  const { chain } = after;
  if (pinned && pinned.generation !== after.generation)
    throw beginAgain(after, 'other values of conversions are served');
  if ((await hashAt(read, chain, after.height)) === after.hash) return;
  if (pinned) throw beginAgain(after, `a reorganisation replaced block ${after.height} of ${chain}`);
  const kept = key[0].order === 'ASC' ? await newestKept(read, after) : after.height - 1;
  throw await cursorRewound(read, after, async (height) => behind(height, key), kept);
}

/** Returns the error for a list in which a rewind may have changed the order everywhere. */
function beginAgain({ height }: Cursor, why: string): ApiError {
  const detail = `${why}: begin the list again, its order may be another`;
  return new ApiError('cursor_rewound', detail, { members: { height: height - 1, nextCursor: null } });
}

/** Returns the newest block that survived every rewind since the cursor's block was removed: a walk to newer blocks has valid rows up to it. */
async function newestKept(read: Snapshot, { chain, height, hash }: Cursor): Promise<number> {
  const row = await read.row(
    readHeight,
    `SELECT min(r.height) AS height FROM removed_blocks b JOIN reorgs r ON r.chain = b.chain AND r.position >= b.removed_at
     WHERE b.chain = $1 AND b.hash = $2`,
    [chain, hexParam(hash)],
  );
  return Math.min(height - 1, row?.height ?? height - 1);
}

/**
 * Returns the error for a cursor whose block was rewound, with a new cursor from which the caller continues at block `kept`. `placeAt` returns
 * the key of the place between the rows up to a height and those above it.
 */
export async function cursorRewound(
  read: Snapshot,
  after: Cursor,
  placeAt: (height: number) => Promise<readonly CursorValue[]>,
  kept = after.height - 1,
): Promise<ApiError> {
  const { chain, height: gone } = after;
  const height = Math.min(kept, read.state.derived.get(chain)?.height ?? 0);
  const hash = height < 0 ? undefined : await hashAt(read, chain, height);
  const nextCursor = hash ? encodeCursor({ ...after, isBack: false, height, hash, key: await placeAt(height) }) : null;
  return new ApiError(
    'cursor_rewound',
    `a reorganisation replaced block ${gone} of ${chain}: read what is above ${height} again, go on with nextCursor`,
    { members: { height, nextCursor } },
  );
}

/** Returns the place after all rows of the blocks up to a height or, in descending order, of the blocks above it. */
function behind(height: number, [first, ...rest]: readonly [KeyColumn, ...KeyColumn[]]): CursorValue[] {
  const place = first.order === 'DESC' ? height + 1 : height;
  return [place, ...rest.map(({ kind, order }) => lastValue(kind, order))];
}

function lastValue(kind: KeyKind, order: 'ASC' | 'DESC'): CursorValue {
  const largest = order === 'ASC';
  if (kind === 'integer') return largest ? INT32_MAX : 0;
  if (kind === 'hex') return (largest ? 'f' : '0').repeat(64);
  return largest ? '\u{10ffff}' : '';
}

export async function hashAt(read: Snapshot, chain: string, height: number): Promise<string | undefined> {
  const sql = 'SELECT hash FROM blocks WHERE chain = $1 AND height = $2';
  return (await read.row(readHash, sql, [chain, height]))?.hash;
}

const readHash = rowReader(storedColumns(DEFINITIONS.block, ['hash']));
const readHeight = rowReader({ height: columns.nullable(columns.number) });
