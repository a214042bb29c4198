/** The positions of the stages: the only SQL on table stage_positions. A position moves in the transaction that stores its rows. */
import type { PoolClient } from 'pg';
import { RetryableError } from '../../schemas/errors.ts';
import type { PositionedStage } from '../../schemas/stages.ts';
import { columns, rowReader } from '../row-reader.ts';
import { readRows } from './read-rows.ts';
import { hexParam } from './values.ts';

export interface StagePosition {
  /** Position of the stage's last input record whose rows are in the stores. */
  readonly position: number;
  readonly height: number;
  readonly hash: string;
  /** Running maximum of block times, seconds. */
  readonly clock: number;
}

export interface SavedPosition extends StagePosition {
  readonly stage: PositionedStage;
  readonly chain: string;
}

/** Another owner moved the position. */
export class StageFenced extends RetryableError {
  constructor(stage: PositionedStage, chain: string) {
    super(
      'stage_fenced',
      `Another process moved the position of ${stage} for ${chain}; the stage restarts from there.`,
    );
  }
}

type Client = Pick<PoolClient, 'query'>;

const COLUMNS = 'stage, chain, position, height, hash, clock';
/** SQL for a FROM clause: the rows of all stages. */
export const ALL_POSITIONS = `(SELECT ${COLUMNS} FROM stage_positions)`;
/**
 * SQL for a text that changes whenever a position changes, since no two versions of a row have the same xmin. Rows are in storage
 * order: sorting them would slow down every statement that reads the version.
 */
export const POSITIONS_VERSION = `(SELECT string_agg(xmin::text, ' ') FROM stage_positions)`;

/** SQL for a FROM clause: the rows of these stages. */
export function positionsOf(...stages: readonly PositionedStage[]): string {
  return `(SELECT ${COLUMNS} FROM stage_positions WHERE stage IN (${stages.map((stage) => `'${stage}'`).join(', ')}))`;
}

const readPlace = rowReader({
  chain: columns.text,
  position: columns.bigint,
  height: columns.number,
  hash: columns.text,
  clock: columns.bigint,
});

/** Returns the stage's positions by chain. */
export async function readStagePositions(
  client: Client,
  stage: PositionedStage,
): Promise<ReadonlyMap<string, StagePosition>> {
  return read(client, 'stage = $1', [stage]);
}

export async function readStagePosition(
  client: Client,
  stage: PositionedStage,
  chain: string,
): Promise<StagePosition | null> {
  return (await read(client, 'stage = $1 AND chain = $2', [stage, chain])).get(chain) ?? null;
}

async function read(client: Client, where: string, params: readonly string[]): Promise<Map<string, StagePosition>> {
  const sql = `SELECT chain, position, height, hash, clock FROM stage_positions WHERE ${where}`;
  const rows = await readRows(client, readPlace, sql, params);
  return new Map(
    rows.map(({ chain, position, height, hash, clock }) => {
      return [chain, { position: Number(position), height, hash, clock: Number(clock) }];
    }),
  );
}

/** Saves positions without checking the previous ones. */
export async function saveStagePositions(client: Client, saved: readonly SavedPosition[]): Promise<void> {
  if (saved.length === 0) return;
  await client.query(
    `INSERT INTO stage_positions (${COLUMNS})
     SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[], $4::integer[], $5::bytea[], $6::bigint[])
     ON CONFLICT (stage, chain) DO UPDATE
     SET position = EXCLUDED.position, height = EXCLUDED.height, hash = EXCLUDED.hash, clock = EXCLUDED.clock`,
    [
      saved.map(({ stage }) => stage),
      saved.map(({ chain }) => chain),
      saved.map(({ position }) => position),
      saved.map(({ height }) => height),
      saved.map(({ hash }) => hexParam(hash)),
      saved.map(({ clock }) => clock),
    ],
  );
}

/** @throws StageFenced when the stored position is not `from` */
export async function moveStagePosition(
  client: Client,
  stage: PositionedStage,
  chain: string,
  from: StagePosition | null,
  to: StagePosition,
): Promise<void> {
  const { rowCount } = await client.query(
    from
      ? `UPDATE stage_positions SET position = $3, height = $4, hash = $5, clock = $6
         WHERE stage = $1 AND chain = $2 AND position = $7`
      : `INSERT INTO stage_positions (${COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING`,
    [stage, chain, to.position, to.height, hexParam(to.hash), to.clock, ...(from ? [from.position] : [])],
  );
  if (rowCount !== 1) throw new StageFenced(stage, chain);
}

/** Moves past a record that changed nothing else; does nothing unless the stage is exactly at `height`, before the record. */
export async function passRecord(
  client: Client,
  stage: PositionedStage,
  chain: string,
  height: number,
  position: number,
): Promise<void> {
  await client.query(
    'UPDATE stage_positions SET position = $4 WHERE stage = $1 AND chain = $2 AND height = $3 AND position < $4',
    [stage, chain, height, position],
  );
}

/** Adds one to the position of a stage that counts its writes instead of reading a topic; the first write is number 0. */
export async function countWrite(client: Client, stage: PositionedStage, chain: string): Promise<void> {
  await client.query(
    `INSERT INTO stage_positions (${COLUMNS}) VALUES ($1, $2, 0, 0, '', 0)
     ON CONFLICT (stage, chain) DO UPDATE SET position = stage_positions.position + 1`,
    [stage, chain],
  );
}

/** Resets the stage to before its first record. @throws StageFenced when the stored position is not `from` */
export async function forgetStagePosition(
  client: Client,
  stage: PositionedStage,
  chain: string,
  from: StagePosition,
): Promise<void> {
  const { rowCount } = await client.query(
    'DELETE FROM stage_positions WHERE stage = $1 AND chain = $2 AND position = $3',
    [stage, chain, from.position],
  );
  if (rowCount !== 1) throw new StageFenced(stage, chain);
}

/** Deletes the stage's positions for these chains, or for all, without checking the previous ones. */
export async function forgetStagePositions(
  client: Client,
  stage: PositionedStage,
  chains: readonly string[] | null = null,
): Promise<void> {
  await client.query('DELETE FROM stage_positions WHERE stage = $1 AND ($2::text[] IS NULL OR chain = ANY($2))', [
    stage,
    chains,
  ]);
}
