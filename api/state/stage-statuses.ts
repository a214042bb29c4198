/** Last reported status of each stage of each chain and of its daemons, and the age of their last heartbeat. */
import { columns, type RowRead, rowReader } from '../../infra/row-reader.ts';
import { DAEMONS, type DaemonStatus } from '../../schemas/daemon-status.ts';
import type { StageStatus } from '../../schemas/stage-status.ts';
import type { ReportingStage } from '../../schemas/stages.ts';

export const readStatus = rowReader({
  /** Status of a stage, or of the daemons. */
  stage: columns.text,
  chain: columns.text,
  /** JSON text. */
  status: columns.text,
  /** Seconds since the last heartbeat of the process that wrote it. */
  age: columns.number,
});
export type StatusRow = RowRead<typeof readStatus>;

export interface StageStatuses {
  of(chain: string, stage: ReportingStage): StageStatus | undefined;
  /** Whether the process that runs the stage has sent no heartbeat for a while, or never. */
  isSilent(chain: string, stage: ReportingStage): boolean;
  /** Seconds since the last heartbeat; Infinity when there never was one. */
  ageOf(chain: string, stage: ReportingStage): number;
  /** In the order of the configuration; empty if no process watches them. */
  daemons(chain: string): readonly DaemonStatus[];
}

export const STATUS_SQL = `SELECT stage, chain, status, extract(epoch FROM now() - updated_at)::float8 AS age
  FROM stage_status`;

/** A process sends a heartbeat at least every 3 s, unless it or Postgres is too busy. */
const SILENT_SECONDS = 10;

export function readStageStatuses(rows: readonly StatusRow[]): StageStatuses {
  const read = new Map(
    rows.map(({ stage, chain, status, age }) => [`${stage} ${chain}`, { status: JSON.parse(status) as unknown, age }]),
  );
  const ageOf = (chain: string, stage: string) => read.get(`${stage} ${chain}`)?.age ?? Number.POSITIVE_INFINITY;
  const isSilent = (chain: string, stage: string) => ageOf(chain, stage) > SILENT_SECONDS;
  return {
    of: (chain, stage) => read.get(`${stage} ${chain}`)?.status as StageStatus | undefined,
    isSilent,
    ageOf,
    daemons(chain) {
      const reported = read.get(`${DAEMONS} ${chain}`)?.status as
        | { readonly daemons: readonly DaemonStatus[] }
        | undefined;
      return reported && !isSilent(chain, DAEMONS) ? reported.daemons : [];
    },
  };
}
