/** The block of a chain at a moment, at a height, or now. */
import { heightAt } from '../../infra/postgres/last-by-clock.ts';
import { columns, type RowRead, rowReader } from '../../infra/row-reader.ts';
import { ApiError } from '../http/api-error.ts';
import { queryParameter } from '../http/parameters.ts';
import { writtenHeight } from '../schema/json-schema.ts';
import type { Snapshot } from './snapshot.ts';
import { tipHeight } from './tip-height.ts';

export const atHeightParameter = queryParameter(
  'As of the end of this block; of the newest one when it is not given',
  writtenHeight,
);

const AT_SQL = `SELECT ${heightAt('$1', '$2')} AS height`;
const readHeight = rowReader({ height: columns.nullable(columns.number) });

/** Height of the last block whose clock is not past the moment (seconds since the epoch); null before the first. */
export async function heightAtTime(read: Snapshot, chain: string, moment: number): Promise<number | null> {
  return (await read.row(readHeight, AT_SQL, [chain, moment]))?.height ?? null;
}

const readPlace = rowReader({
  height: columns.number,
  hash: columns.text,
  time: columns.bigint,
  clock: columns.bigint,
  /** Position of its record: a block that comes back after a rewind has another. */
  position: columns.bigint,
});
const PLACE_SQL =
  "SELECT height, encode(hash, 'hex') AS hash, time, clock, position FROM blocks WHERE chain = $1 AND height = $2";
export type BlockPlace = RowRead<typeof readPlace>;

/** Height and clock of that block; of the newest one the snapshot has them. @throws ApiError as blockAt */
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

/** The newest block without a height. @throws ApiError not_found above it, syncing before the first */
export async function blockAt(read: Snapshot, chain: string, height: number | undefined): Promise<BlockPlace> {
  const tip = tipHeight(read, chain);
  const place = await read.row(readPlace, PLACE_SQL, [chain, height ?? tip]);
  if (!place) throw new ApiError('not_found', `block ${height} of ${chain} is not known: the newest is ${tip}`);
  return place;
}
