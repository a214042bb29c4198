/** Shows how each stage stands: metrics at once, the row that `status` and readiness read at most once a second. */
import type { Logger } from '../infra/logger.ts';
import { metrics } from '../infra/metrics.ts';
import type { Postgres } from '../infra/postgres/postgres.ts';
import { shared } from '../infra/shared.ts';
import type { Stage, StageStatus } from '../schemas/stage-status.ts';

export interface StageReporter {
  report(stage: Stage, chain: string, status: StageStatus): void;
  /** Writes what is pending at once, for who is about to read it. */
  flush(): Promise<void>;
  /** Writes what is pending and ends. */
  close(): Promise<void>;
}

const FLUSH_MS = 1000;

export function createStageReporter(postgres: Postgres, logger: Logger): StageReporter {
  const pending = new Map<string, { stage: Stage; chain: string; status: StageStatus }>();

  async function write(): Promise<void> {
    const rows = [...pending.values()];
    pending.clear();
    if (rows.length === 0) return;
    try {
      await postgres.pool.query(
        `INSERT INTO stage_status (stage, chain, status, updated_at)
         SELECT stage, chain, status::jsonb, now() FROM unnest($1::text[], $2::text[], $3::text[]) AS row(stage, chain, status)
         ON CONFLICT (stage, chain) DO UPDATE SET updated_at = EXCLUDED.updated_at,
           -- When its newest block came is as true after a restart.
           status = EXCLUDED.status || CASE WHEN EXCLUDED.status -> 'movedAt' = 'null'
             THEN jsonb_build_object('movedAt', stage_status.status -> 'movedAt') ELSE '{}' END`,
        [rows.map((row) => row.stage), rows.map((row) => row.chain), rows.map((row) => JSON.stringify(row.status))],
      );
    } catch (err) {
      logger.warn({ err }, 'the state of the stages could not be written; the next report tries again');
    }
  }

  /** One after the other, so that an older row never replaces a newer one. */
  const flush = shared(write);
  const timer = setInterval(flush, FLUSH_MS);
  timer.unref();

  return {
    report(stage, chain, status) {
      pending.set(`${stage}/${chain}`, { stage, chain, status });
      if (status.height !== null) metrics.stageHeight.set({ chain, stage }, status.height);
      if (status.targetHeight === null) return;
      if (stage === 'tail') metrics.tipHeight.set({ chain }, status.targetHeight);
      metrics.stageLag.set({ chain, stage }, Math.max(0, status.targetHeight - (status.height ?? -1)));
    },
    flush,
    async close() {
      clearInterval(timer);
      await flush();
    },
  };
}
