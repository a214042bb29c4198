/** Reads the state that an export starts from in Postgres: the days of each chain, and the versions that their rows depend on. */
import type { Pool, PoolClient } from 'pg';
import { SECONDS_PER_DAY, utcDate } from '../../domain/time.ts';
import { heightAt } from '../../infra/postgres/last-by-clock.ts';
import { inTransaction } from '../../infra/postgres/postgres.ts';
import { readRow, readRows } from '../../infra/postgres/read-rows.ts';
import { positionsOf } from '../../infra/postgres/stage-positions.ts';
import { columns, type RowReader, rowReader } from '../../infra/row-reader.ts';
import type { Stores } from '../../infra/stores.ts';
import type { AheadRun } from '../../schemas/ahead-runs.ts';
import type { ChainConfig } from '../../schemas/config.ts';
import { type Generation, readGenerations } from '../price/generations.ts';

export interface ExportedGeneration {
  readonly generation: number;
  /** By which day its stamps are final; −1 when none is. */
  readonly rolledThrough: number;
  /** For each day up to there, what tells one build of its sums from another: numbers of ticks are used again, transactions are not. */
  readonly builds: readonly { readonly day: number; readonly transaction: string }[];
}

export interface PricedState {
  /** Newest complete tick. */
  readonly tick: bigint;
  readonly runs: readonly AheadRun[];
  readonly served: ExportedGeneration;
  /** Another one, where it is whole. */
  readonly other: ExportedGeneration | null;
}

/** A UTC day of a chain by its clock: a range of blocks. */
export interface ChainDay {
  readonly chain: string;
  readonly number: number;
  readonly day: string;
  readonly from: number;
  readonly to: number;
  /** Hash of the last block, and the record of the log that brought it: a block that comes back after a rewind has another. */
  readonly hash: string;
  readonly position: bigint;
  /** Its tick; null while no complete one has it. */
  readonly tick: bigint | null;
  /** Newest redrive that derived blocks of the day again; 0 for none. */
  readonly redrive: bigint;
  /** Whether the day is over and no rewind reaches it. */
  readonly isFinal: boolean;
  /** The last of its blocks that has prices, complete or not; below `from` where none has. */
  readonly pricedTo: number;
  /** Hash and position of that one; null where there is none. */
  readonly pricedHash: string | null;
  readonly pricedPosition: bigint | null;
}

export interface ExportState {
  readonly days: readonly ChainDay[];
  /** Chains of which days are missing that will be back: a redrive derives them again. */
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

/** All of one moment. Blocks that a redrive is about to derive again are left out. */
export function readExportState(
  { postgres }: Pick<Stores, 'postgres'>,
  chains: readonly Chain[],
): Promise<ExportState> {
  return inTransaction(postgres.pool, async (client) => {
    await client.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY');
    const days: ChainDay[] = [];
    for (const chain of chains) days.push(...(await daysOf(client, chain)));
    const rows = await readRows(client, readChain, `SELECT chain FROM redrives WHERE state <> 'done'`);
    return { days, incomplete: new Set(rows.map(({ chain }) => chain)), priced: await pricedState(client) };
  });
}

/** Those of the days whose facts follow from the same as before. */
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

/** Up to which block of a chain its prices are there, complete or not: where `price` stands on a branch that derive has left, up to its newest tick of this one. */
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
        // The block that ends the day has to be final too: another one in its place might belong to the day.
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

/** To be read in one transaction with what it is compared with. */
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
 * Whether the generations are still those of each of these states: of one that was dropped ClickHouse loses the rows, so that what was read may
 * lack them, and after a swap every day is to be written again.
 */
export async function haveStayed(client: Pool | PoolClient, ...states: readonly PricedState[]): Promise<boolean> {
  const now = wholeOnes(await readGenerations(client));
  return states.every(({ served, other }) => {
    return now.served?.generation === served.generation && now.other?.generation === other?.generation;
  });
}

/** The served generation and another one; none that is being made. */
function wholeOnes(all: readonly Generation[]): { readonly served?: Generation; readonly other?: Generation } {
  const whole = all.filter(({ isUnfinished }) => !isUnfinished);
  const served = whole.find((generation) => generation.served);
  const other = whole.filter((generation) => !generation.served).at(-1);
  return { ...(served && { served }), ...(other && { other }) };
}

/** Whether no stamp of the day can change any more, and what its prices follow from. */
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
