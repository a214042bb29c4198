/** How far a stage is, kept in the transaction that stores its rows. */
import type { Pool, PoolClient } from 'pg';
import { hexParam } from '../../infra/postgres/values.ts';
import { RetryableError } from '../../schemas/errors.ts';
import type { PositionedStage } from '../../schemas/stages.ts';

export interface StagePosition {
  /** Of the last record that is in the stores. */
  readonly position: number;
  readonly height: number;
  readonly hash: string;
  /** Running maximum of block times, seconds. */
  readonly clock: number;
}

/** Somebody else moved the position: two owners. */
export class StageFenced extends RetryableError {
  constructor(stage: PositionedStage, chain: string) {
    super(
      'stage_fenced',
      `Another process moved the position of ${stage} for ${chain}; the stage starts again from there.`,
    );
  }
}

export async function readStagePosition(
  client: Pool | PoolClient,
  stage: PositionedStage,
  chain: string,
): Promise<StagePosition | null> {
  const { rows } = await client.query<{ position: bigint; height: number; hash: string; clock: bigint }>(
    'SELECT position, height, hash, clock FROM stage_positions WHERE stage = $1 AND chain = $2',
    [stage, chain],
  );
  const row = rows[0];
  return row ? { ...row, position: Number(row.position), clock: Number(row.clock) } : null;
}

/** @throws StageFenced when the stored position is not `from` */
export async function moveStagePosition(
  client: PoolClient,
  stage: PositionedStage,
  chain: string,
  from: StagePosition | null,
  to: StagePosition,
): Promise<void> {
  const { rowCount } = await client.query(
    from
      ? `UPDATE stage_positions SET position = $3, height = $4, hash = $5, clock = $6
         WHERE stage = $1 AND chain = $2 AND position = $7`
      : `INSERT INTO stage_positions (stage, chain, position, height, hash, clock) VALUES ($1, $2, $3, $4, $5, $6)
         ON CONFLICT DO NOTHING`,
    [stage, chain, to.position, to.height, hexParam(to.hash), to.clock, ...(from ? [from.position] : [])],
  );
  if (rowCount !== 1) throw new StageFenced(stage, chain);
}

/** The stage stands before its first record again. @throws StageFenced when the stored position is not `from` */
export async function forgetStagePosition(
  client: PoolClient,
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
