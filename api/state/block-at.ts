/** Finds the block of a chain at a time, at a height, or the newest one. */
import { heightAt } from '../../infra/postgres/last-by-clock.ts';
import { columns, type RowRead, rowReader } from '../../infra/row-reader.ts';
import { ApiError } from '../http/api-error.ts';
import { queryParameter } from '../http/parameters.ts';
import { writtenHeight } from '../schema/json-schema.ts';
import type { Snapshot } from './snapshot.ts';
import { tipHeight } from './tip-height.ts';

export const atHeightParameter = queryParameter(
  'As of the end of this block; by default of the newest block',
  writtenHeight,
);

const AT_SQL = `SELECT ${heightAt('$1', '$2')} AS height`;
const readHeight = rowReader({ height: columns.nullable(columns.number) });

/** Returns the height of the last block whose clock is at or before `moment` (seconds since the epoch); null before the first block. */
export async function heightAtTime(read: Snapshot, chain: string, moment: number): Promise<number | null> {
  return (await read.row(readHeight, AT_SQL, [chain, moment]))?.height ?? null;
}

const readPlace = rowReader({
  height: columns.number,
  hash: columns.text,
  time: columns.bigint,
  clock: columns.bigint,
  /** Position of its record in the log: a block that returns after a rewind has another position. */
  position: columns.bigint,
});
const PLACE_SQL =
  "SELECT height, encode(hash, 'hex') AS hash, time, clock, position FROM blocks WHERE chain = $1 AND height = $2";
export type BlockPlace = RowRead<typeof readPlace>;

/** Returns height and clock of a block, by default of the newest one. @throws ApiError as blockAt */
export async function placeAt(
  read: Snapshot,
  chain: string,
  height: number | undefined,
): Promise<{ readonly height: number; readonly clock: number }> {
  const tip = read.state.derived.get(chain);
  if (height === undefined && tip) return tip;
  const block = await blockAt(read, chain, height);
  return { height: block.height, clock: Number(block.clock) };
}

/** Without a height returns the newest block. @throws ApiError not_found above the newest block, syncing before the first */
export async function blockAt(read: Snapshot, chain: string, height: number | undefined): Promise<BlockPlace> {
  const tip = tipHeight(read, chain);
  const place = await read.row(readPlace, PLACE_SQL, [chain, height ?? tip]);
  if (!place) throw notKnown(chain, height, tip);
  return place;
}

/** Without a height returns the newest; needs no statement. @throws ApiError as blockAt */
export function knownHeight(read: Snapshot, chain: string, height: number | undefined): number {
  const tip = tipHeight(read, chain);
  if (height !== undefined && height > tip) throw notKnown(chain, height, tip);
  return height ?? tip;
}

function notKnown(chain: string, height: number | undefined, tip: number): ApiError {
  return new ApiError('not_found', `block ${height} of ${chain} is not known: the newest is ${tip}`);
}
