/** Reads from Postgres the state that an export starts from: the days of each chain, and the versions that their rows depend on. */
import type { Pool, PoolClient } from 'pg';
import { SECONDS_PER_DAY, utcDate } from '../../domain/time.ts';
import { heightAt } from '../../infra/postgres/last-by-clock.ts';
import { readRow, readRows } from '../../infra/postgres/read-rows.ts';
import { positionsOf } from '../../infra/postgres/stage-positions.ts';
import { columns, type RowReader, rowReader } from '../../infra/row-reader.ts';
import type { Stores } from '../../infra/stores.ts';
import type { AheadRun } from '../../schemas/ahead-runs.ts';
import type { ChainConfig } from '../../schemas/config.ts';
import { type Generation, readGenerations } from '../price/generations.ts';
import { inSnapshot } from '../stage/snapshot.ts';

export interface ExportedGeneration {
  readonly generation: number;
  /** The newest day whose stamps are final; −1 when none is. */
  readonly rolledThrough: number;
  /** Identifies the build of each day's sums up to there: numbers of ticks are used again, transactions are not. */
  readonly builds: readonly { readonly day: number; readonly transaction: string }[];
}

export interface PricedState {
  /** Newest complete tick. */
  readonly tick: bigint;
  readonly runs: readonly AheadRun[];
  readonly served: ExportedGeneration;
  /** Another finished generation, if there is one. */
  readonly other: ExportedGeneration | null;
}

/** A UTC day of a chain by its clock: a range of blocks. */
export interface ChainDay {
  readonly chain: string;
  readonly number: number;
  readonly day: string;
  readonly from: number;
  readonly to: number;
  /** Hash of the last block, and position of its record in the log: a block that returns after a rewind has another position. */
  readonly hash: string;
  readonly position: bigint;
  /** The last block's tick; null while it has no complete one. */
  readonly tick: bigint | null;
  /** Newest redrive that derived blocks of the day again; 0 for none. */
  readonly redrive: bigint;
  /** Whether the day is over and no rewind reaches it. */
  readonly isFinal: boolean;
  /** Height of the last block of the day with prices, complete or not; below `from` when no block has prices. */
  readonly pricedTo: number;
  /** Hash and position of that block; null when there is none. */
  readonly pricedHash: string | null;
  readonly pricedPosition: bigint | null;
}

export interface ExportState {
  readonly days: readonly ChainDay[];
  /** Chains with days that are missing for now: a redrive is deriving them again. */
  readonly incomplete: ReadonlySet<string>;
  readonly priced: PricedState;
}

const readChain = rowReader({ chain: columns.text });
const readBasis = rowReader({
  number: columns.bigint,
  hash: columns.text,
  position: columns.bigint,
  redrive: columns.bigint,
  pending: columns.boolean,
});

type Chain = Pick<ChainConfig, 'name' | 'finalityDepth'>;

/** Reads everything in one snapshot. Days with blocks that a redrive is about to derive again are left out. */
export function readExportState(
  { postgres }: Pick<Stores, 'postgres'>,
  chains: readonly Chain[],
): Promise<ExportState> {
  return inSnapshot(postgres, async (client) => {
    const days: ChainDay[] = [];
    for (const chain of chains) days.push(...(await daysOf(client, chain)));
    const rows = await readRows(client, readChain, `SELECT chain FROM redrives WHERE state <> 'done'`);
    return { days, incomplete: new Set(rows.map(({ chain }) => chain)), priced: await pricedState(client) };
  });
}

/** Returns the days whose facts still follow from the same blocks and redrives. */
export async function unchangedDays(
  client: Pool | PoolClient,
  days: readonly ChainDay[],
): Promise<ReadonlySet<ChainDay>> {
  const rows = await readRows(
    client,
    readBasis,
    `SELECT number, hash, position, coalesce((SELECT max(id) FROM redrives r WHERE r.chain = b.chain AND r.height <= b.height), 0) AS redrive,
       EXISTS (SELECT FROM redrives r WHERE r.chain = b.chain AND r.height <= b.height AND state <> 'done') AS pending
     FROM unnest($1::text[], $2::integer[]) WITH ORDINALITY AS asked(chain, height, number) JOIN blocks b USING (chain, height)`,
    [days.map(({ chain }) => chain), days.map(({ to }) => to)],
  );
  return new Set(
    rows.flatMap(({ number, hash, position, redrive, pending }) => {
      const day = days[Number(number) - 1];
      return day?.hash === hash && day.position === position && day.redrive === redrive && !pending ? [day] : [];
    }),
  );
}

export const isUnchanged = async (client: Pool | PoolClient, day: ChainDay): Promise<boolean> =>
  (await unchangedDays(client, [day])).has(day);

/** Height up to which a chain has prices, complete or not; when `price` is on a branch that derive has left, its newest tick on this branch. */
export async function pricedHeight(client: PoolClient, chain: string): Promise<number> {
  const row = await readRow(
    client,
    readHeight,
    `SELECT greatest(
       (SELECT max(p.height) FROM ${positionsOf('price', 'price_ahead')} AS p JOIN blocks b USING (chain, height)
        WHERE p.chain = $1 AND b.hash = p.hash),
       -- By a subquery, so that the search begins at the newest tick: a join would read all of them.
       (SELECT t.height FROM price_ticks t
        WHERE t.chain = $1 AND t.hash = (SELECT hash FROM blocks b WHERE b.chain = t.chain AND b.height = t.height)
        ORDER BY t.height DESC LIMIT 1)) AS height`,
    [chain],
  );
  return row?.height ?? -1;
}

const readPosition = rowReader({ height: columns.number });
const readHeight = rowReader({ height: columns.nullable(columns.number) });
const readDay = rowReader({
  number: columns.bigint,
  from: columns.number,
  to: columns.number,
  hash: columns.text,
  position: columns.bigint,
  pricedHash: columns.nullable(columns.text),
  pricedPosition: columns.nullable(columns.bigint),
  tick: columns.nullable(columns.bigint),
  redrive: columns.bigint,
  isPending: columns.boolean,
});

async function daysOf(client: PoolClient, { name, finalityDepth }: Chain): Promise<ChainDay[]> {
  const derived = await readRow(
    client,
    readPosition,
    `SELECT height FROM ${positionsOf('derive')} AS p WHERE chain = $1`,
    [name],
  );
  const tip = derived?.height ?? -1;
  const pricedTo = await pricedHeight(client, name);
  const rows = await readRows(
    client,
    readDay,
    `WITH ends AS (
       SELECT number, ${heightAt('$1', `(number + 1) * ${SECONDS_PER_DAY} - 1`, '$2')} AS "to" FROM generate_series(
         (SELECT clock / ${SECONDS_PER_DAY} FROM blocks WHERE chain = $1 ORDER BY height LIMIT 1),
         (SELECT clock / ${SECONDS_PER_DAY} FROM blocks WHERE chain = $1 AND height = $2)) AS number),
     days AS (
       SELECT number, coalesce(lag("to") OVER (ORDER BY number) + 1, (SELECT min(height) FROM blocks WHERE chain = $1)) AS "from", "to"
       FROM ends)
     SELECT days.*, b.hash, b.position, p.hash AS "pricedHash", p.position AS "pricedPosition",
       (SELECT max(tick) FROM price_ticks t WHERE t.chain = $1 AND t.height = days."to") AS tick,
       coalesce((SELECT max(id) FROM redrives r WHERE r.chain = $1 AND r.height <= days."to"), 0) AS redrive,
       EXISTS (SELECT FROM redrives r WHERE r.chain = $1 AND r.height <= days."to" AND state <> 'done') AS "isPending"
     FROM days JOIN blocks b ON b.chain = $1 AND b.height = days."to"
       LEFT JOIN blocks p ON p.chain = $1 AND p.height = least(days."to", $3)
     WHERE "from" <= "to" ORDER BY number`,
    [name, tip, pricedTo],
  );
  return rows
    .filter(({ isPending }) => !isPending)
    .map(({ number, isPending, ...row }, index) => {
      return {
        ...row,
        chain: name,
        number: Number(number),
        day: utcDate(Number(number) * SECONDS_PER_DAY),
        // The block after the day must be final too: another block in its place might belong to the day.
        isFinal: index < rows.length - 1 && row.to < tip - finalityDepth,
        pricedTo: Math.min(row.to, pricedTo),
      };
    });
}

const readTick = rowReader({ tick: columns.nullable(columns.bigint) });
const readRun: RowReader<AheadRun> = rowReader({
  run: columns.bigint,
  fromTick: columns.bigint,
  throughTick: columns.bigint,
  corrects: columns.boolean,
});
const readBuild = rowReader({ generation: columns.number, day: columns.number, transaction: columns.text });

/** Read it in one transaction with the state that it is compared with. */
export async function pricedState(client: PoolClient): Promise<PricedState> {
  const newest = await readRow(client, readTick, 'SELECT max(tick) AS tick FROM price_ticks');
  const runs = await readRows(
    client,
    readRun,
    `SELECT run, from_tick AS "fromTick", through_tick AS "throughTick", corrects FROM ahead_runs WHERE counts ORDER BY run`,
  );
  const builds = await readRows(
    client,
    readBuild,
    'SELECT generation, day, xmin::text AS transaction FROM rolled_days ORDER BY day',
  );
  const described = (generation: number): ExportedGeneration => {
    const own = builds.filter((build) => build.generation === generation);
    return { generation, builds: own, rolledThrough: own.at(-1)?.day ?? -1 };
  };
  const { served, other } = wholeOnes(await readGenerations(client));
  return {
    tick: newest?.tick ?? -1n,
    runs,
    served: described(served?.generation ?? 1),
    other: other ? described(other.generation) : null,
  };
}

/**
 * Whether the generations are still those of each of these states. ClickHouse loses the rows of a dropped generation, so rows that were
 * read may lack them; after a swap every day must be written again.
 */
export async function haveStayed(client: Pool | PoolClient, ...states: readonly PricedState[]): Promise<boolean> {
  const now = wholeOnes(await readGenerations(client));
  return states.every(({ served, other }) => {
    return now.served?.generation === served.generation && now.other?.generation === other?.generation;
  });
}

/** The served generation and another one, neither of which is being made. */
function wholeOnes(all: readonly Generation[]): { readonly served?: Generation; readonly other?: Generation } {
  const whole = all.filter(({ isUnfinished }) => !isUnfinished);
  const served = whole.find((generation) => generation.served);
  const other = whole.filter((generation) => !generation.served).at(-1);
  return { ...(served && { served }), ...(other && { other }) };
}

/** Returns whether no stamp of the day can change any more, and the text of what its prices follow from. */
export function pricedBasis(
  day: ChainDay,
  { tick, runs, served, other }: PricedState,
): { closed: boolean; basis: string } {
  const generations = other ? [served, other] : [served];
  const isWhole = day.isFinal && day.pricedTo === day.to;
  const closed = isWhole && generations.every(({ rolledThrough }) => day.number <= rolledThrough);
  const ids = generations.map(({ generation }) => generation).join('-');
  if (!closed)
    return { closed, basis: `${ids} up to ${tick} ${runs.map(({ run, throughTick }) => `${run}:${throughTick}`)}` };
  const builds = generations.map((one) => one.builds.find((build) => build.day >= day.number)?.transaction);
  return { closed, basis: `${ids} tick ${day.tick} built ${builds.join(',')}` };
}

export const factBasis = ({ from, to, hash, redrive }: ChainDay): string => `${from}-${to} ${hash} ${redrive}`;
