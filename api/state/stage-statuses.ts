/** What each stage of each chain says of itself, and whether that is good enough to be sent traffic. */
import type { ChainConfig } from '../../schemas/config.ts';
import type { Stage, StageStatus } from '../../schemas/stage-status.ts';

export interface StatusRow {
  readonly stage: Stage;
  readonly chain: string;
  /** JSON text. */
  readonly status: string;
}

export interface StageStatuses {
  of(chain: string, stage: Stage): StageStatus | undefined;
}

export interface UnreadyReason {
  readonly code: 'not_started' | 'stage_stopped' | 'stalled' | 'store_unreachable';
  readonly chain: string | null;
  readonly stage: Stage | null;
  readonly detail: string;
}

export const STATUS_SQL = 'SELECT stage, chain, status FROM stage_status';

export function readStageStatuses(rows: readonly StatusRow[]): StageStatuses {
  const statuses = new Map(rows.map((row) => [`${row.stage} ${row.chain}`, JSON.parse(row.status) as StageStatus]));
  return { of: (chain, stage) => statuses.get(`${stage} ${chain}`) };
}

/** A chain that has had no block for this many of its block times stands still. */
const QUIET_BLOCKS = 20;

/**
 * Why a chain does not move, empty when it does: a block arrived in the last 20 block times (arrival, not block time),
 * or the recording has come to its end, and what arrived is derived.
 */
export function whyStill(chain: ChainConfig, statuses: StageStatuses, now: number): UnreadyReason[] {
  const tail = statuses.of(chain.name, 'tail');
  const derive = statuses.of(chain.name, 'derive');
  const price = statuses.of(chain.name, 'price');
  const stopped = Object.entries({ tail, derive, price }).flatMap(([stage, status]) =>
    status?.state === 'stopped' ? [stoppedReason(chain.name, stage as Stage, status)] : [],
  );
  if (stopped.length > 0) return stopped;
  if (!tail || !derive) {
    const stage = tail ? 'derive' : 'tail';
    return [{ code: 'not_started', chain: chain.name, stage, detail: `${stage} of ${chain.name} has not started yet` }];
  }
  const allowed = QUIET_BLOCKS * chain.blockSeconds;
  const reasons: UnreadyReason[] = [];
  if (tail.state !== 'ended' && quiet(tail, now) > allowed) reasons.push(stalled(chain.name, 'tail', tail, allowed));
  const behind = (tail.height ?? -1) > (derive.height ?? -1);
  if (behind && quiet(derive, now) > allowed) reasons.push(stalled(chain.name, 'derive', derive, allowed));
  return reasons;
}

/** Seconds since the stage last had a block; infinite when it never had one. */
function quiet(status: StageStatus, now: number): number {
  return status.movedAt === null ? Number.POSITIVE_INFINITY : (now - Date.parse(status.movedAt)) / 1000;
}

function stalled(chain: string, stage: Stage, status: StageStatus, allowed: number): UnreadyReason {
  const since = status.movedAt === null ? 'had no block yet' : `had its newest block at ${status.movedAt}`;
  const error = status.error ? `, ${status.error.code}: ${status.error.message}` : '';
  const detail = `${stage} of ${chain} ${since}, more than ${allowed} s ago (${status.state}${error})`;
  return { code: 'stalled', chain, stage, detail };
}

function stoppedReason(chain: string, stage: Stage, status: StageStatus): UnreadyReason {
  const why = status.error ? `${status.error.code}: ${status.error.message}` : 'no reason was kept';
  return { code: 'stage_stopped', chain, stage, detail: `${stage} of ${chain} has stopped, ${why}` };
}
