/**
 * Publishes the status of each stage and of its chain's daemons: to metrics at once, and to the rows that `status` and readiness read
 * within a second, or at once after a failure. Each write is also a heartbeat for the rows that this process wrote last, so that readers
 * notice its death; while no row changes, only the heartbeat is written. A row of a stage belongs to the process that has claimed it last:
 * a former owner, which may still report why it lost the stage, must not hide what the new owner does.
 */
import { randomUUID } from 'node:crypto';
import type { Logger } from '../../infra/logger.ts';
import { metrics } from '../../infra/metrics.ts';
import { NOTIFY_ALL } from '../../infra/postgres/position-moves.ts';
import type { Postgres } from '../../infra/postgres/postgres.ts';
import { readRows } from '../../infra/postgres/read-rows.ts';
import { columns, rowReader } from '../../infra/row-reader.ts';
import { shared } from '../../infra/shared.ts';
import { DAEMONS, type DaemonStatus } from '../../schemas/daemon-status.ts';
import { STAGE_STATES, type StageStatus } from '../../schemas/stage-status.ts';
import type { ReportingStage } from '../../schemas/stages.ts';

export interface StageReporter {
  /** Call when this process has become the owner of the stage: the next report replaces the row of any other process. */
  claim(stage: ReportingStage, chain: string): void;
  /** Publishes the status; the row stays as it is while it belongs to another process that is alive. */
  report(stage: ReportingStage, chain: string, status: StageStatus): void;
  /** Reports the daemons of a chain, in the order of the configuration. */
  daemons(chain: string, statuses: readonly DaemonStatus[]): void;
  /** Writes pending rows at once, for a reader that needs them now. */
  flush(): Promise<void>;
  /** Writes pending rows, gives up this process' rows, and ends. */
  close(): Promise<void>;
}

const FLUSH_MS = 1000;
/** Time between two heartbeats while no row changes: a third of the time after which a process counts as silent. */
const ALIVE_MS = 3000;

/** A process that has sent no heartbeat for this long may be dead: its rows then belong to no process. */
const SILENT = '10 seconds';

/** Writes the rows that no other process owns and those of $5, and a heartbeat for the other rows of this process. Returns the written rows. */
const WRITE_SQL = `WITH written AS (
    INSERT INTO stage_status (stage, chain, status, updated_at)
    SELECT stage, chain, status::jsonb, now() FROM unnest($1::text[], $2::text[], $3::text[]) AS row(stage, chain, status)
    ON CONFLICT (stage, chain) DO UPDATE SET updated_at = EXCLUDED.updated_at,
      -- Keeps the time of the newest block over a restart.
      status = EXCLUDED.status || CASE WHEN EXCLUDED.status -> 'movedAt' = 'null'
        THEN jsonb_build_object('movedAt', stage_status.status -> 'movedAt') ELSE '{}' END
    WHERE coalesce(stage_status.status ->> 'reporter', $4) = $4 OR stage_status.updated_at < now() - interval '${SILENT}'
      OR stage_status.stage || '/' || stage_status.chain = ANY($5::text[])
    RETURNING stage, chain
  ), alive AS (
    UPDATE stage_status SET updated_at = now()
    WHERE status ->> 'reporter' = $4 AND (stage, chain) NOT IN (SELECT stage, chain FROM written)
  )
  SELECT stage || '/' || chain AS key FROM written`;
const LEAVE_SQL = `UPDATE stage_status SET status = status - 'reporter' WHERE status ->> 'reporter' = $1`;

const readKey = rowReader({ key: columns.text });

interface Row {
  readonly stage: string;
  readonly chain: string;
  readonly status: object;
}

const keyOf = ({ stage, chain }: Pick<Row, 'stage' | 'chain'>): string => `${stage}/${chain}`;

/** A daemon's message may contain characters that Postgres' JSON cannot: NUL, and half a surrogate pair. */
function storable(_name: string, value: unknown): unknown {
  return typeof value === 'string' ? value.toWellFormed().replaceAll('\0', '\u{fffd}') : value;
}

export function createStageReporter(postgres: Postgres, logger: Logger): StageReporter {
  /** Only the owner of a row refreshes its heartbeat: a standby must not keep the row of a dead owner alive. */
  const reporter = randomUUID();
  let pending = new Map<string, Row>();
  /** By row: the part of its status whose changes are written at once. */
  const urgent = new Map<string, string>();
  /** Whether such a change is pending. */
  let isUrgent = false;
  /** Keys of the rows that the next write takes from any other process. */
  const claimed = new Set<string>();
  /** By row: the status as last sent. */
  const written = new Map<string, string>();
  let writtenAt = Number.NEGATIVE_INFINITY;

  const isNews = ([key, { status }]: [string, Row]) => written.get(key) !== JSON.stringify(status);

  async function write(): Promise<void> {
    if (urgent.size === 0) return; // nothing has been reported yet
    const rows = pending;
    const wasUrgent = isUrgent;
    const began = performance.now();
    pending = new Map();
    isUrgent = false;
    try {
      const values = [...rows.values()];
      const statuses = values.map(({ status }) => JSON.stringify({ ...status, reporter }, storable));
      const places = [values.map((row) => row.stage), values.map((row) => row.chain)];
      const any = values.filter(({ stage }) => stage === DAEMONS).map(keyOf);
      const sent = [...places, statuses, reporter, [...claimed, ...any]];
      const taken = new Set((await readRows(postgres.pool, readKey, WRITE_SQL, sent)).map(({ key }) => key));
      if (wasUrgent) await postgres.pool.query(NOTIFY_ALL);
      for (const [key, { status }] of rows) written.set(key, JSON.stringify(status));
      for (const key of taken) claimed.delete(key);
      // Another process owns these rows; each heartbeat tries again.
      pending = new Map([...[...rows].filter(([key]) => !taken.has(key)), ...pending]);
      writtenAt = began;
    } catch (err) {
      isUrgent ||= wasUrgent;
      // A stage that has stopped reports nothing more, so its last status is kept for the next try.
      pending = new Map([...rows, ...pending]);
      logger.warn({ err }, 'the state of the stages could not be written; trying again in a second');
    }
  }

  /** Runs one write at a time, so that an older row never replaces a newer one. */
  const flush = shared(write);
  const timer = setInterval(() => {
    if (performance.now() - writtenAt >= ALIVE_MS - FLUSH_MS / 2 || [...pending].some(isNews)) void flush();
  }, FLUSH_MS);
  timer.unref();

  function put(row: Row, gist: string): void {
    const key = keyOf(row);
    pending.set(key, row);
    if (urgent.get(key) === gist) return;
    urgent.set(key, gist);
    isUrgent = true;
    void flush();
  }

  return {
    claim(stage, chain) {
      const key = keyOf({ stage, chain });
      claimed.add(key);
      urgent.delete(key);
    },
    report(stage, chain, status) {
      for (const state of STAGE_STATES) metrics.stageState.set({ chain, stage, state }, status.state === state ? 1 : 0);
      // Without the state of the price stage, which changes between moving and waiting with almost every block.
      put({ stage, chain, status }, `${stage === 'price' ? '' : status.state} ${status.error?.code ?? ''}`);
      if (status.height !== null) metrics.stageHeight.set({ chain, stage }, status.height);
      if (status.targetHeight === null) return;
      if (stage === 'tail') metrics.tipHeight.set({ chain }, status.targetHeight);
      metrics.stageLag.set({ chain, stage }, Math.max(0, status.targetHeight - (status.height ?? -1)));
    },
    daemons(chain, statuses) {
      const gist = statuses.map(({ fault }) => fault?.code ?? 'well').join();
      put({ stage: DAEMONS, chain, status: { daemons: statuses } }, gist);
    },
    flush,
    async close() {
      clearInterval(timer);
      await flush();
      if (written.size === 0) return;
      // A failure has no effect: the rows have no owner once they are silent.
      await postgres.pool.query(LEAVE_SQL, [reporter]).catch((err: unknown) => {
        logger.debug({ err }, 'the rows of this process could not be given up');
      });
    },
  };
}
