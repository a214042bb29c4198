/**
 * Determines why a chain is not up to date, from the last reports of its stages and of the watch on its daemons. Pure: standing-causes.ts tracks
 * how long a cause lasts; docs/health.md lists all causes. Only the codes of errors are shown: their messages name files and addresses,
 * which belong in the log and in `status`.
 */
import type { ChainConfig } from '../../schemas/config.ts';
import { type DaemonStatus, isAnyHealthy, type PublisherState } from '../../schemas/daemon-status.ts';
import type { StageStatus } from '../../schemas/stage-status.ts';
import { REPORTING_STAGES, type ReportingStage } from '../../schemas/stages.ts';
import type { StageStatuses } from './stage-statuses.ts';

export interface UnreadyReason {
  /** A code of docs/errors.md: one of the reasons listed there, or the code of a daemon's or store's error. */
  readonly code: string;
  /** Null for all chains. */
  readonly chain: string | null;
  readonly stage: ReportingStage | null;
  /** Error code of a stage that waits or has stopped. */
  readonly cause: string | null;
  readonly detail: string;
  /** Seconds until a stage has caught up, if its rate is known. */
  readonly etaSeconds: number | null;
}

export interface HealthCause {
  /** Subject of the cause; each subject has at most one cause at a time. */
  readonly subject: string;
  readonly reason: UnreadyReason;
  /** Whether the cause often disappears by itself, such as a lag of a few blocks or one failed call: it then counts only after some seconds. */
  readonly passes: boolean;
}

export interface ChainFacts {
  readonly statuses: StageStatuses;
  /** Heights that the stores have committed; null before the first block. */
  readonly derived: number | null;
  readonly priced: number | null;
}

/** Number of block times without a block after which a chain counts as stalled. */
const QUIET_BLOCKS = 20;
/** A stage counts as in step with its daemon up to this many blocks behind it. */
const IN_STEP_BLOCKS = 5;

type NamedChain = Pick<ChainConfig, 'name' | 'blockSeconds'>;

/** `now`: milliseconds since the epoch. */
export function causesOf(chain: NamedChain, facts: ChainFacts, now: number): HealthCause[] {
  const { statuses } = facts;
  const daemons = statuses.daemons(chain.name);
  const daemon = daemonCause(chain.name, daemons);
  const stages = REPORTING_STAGES.flatMap((stage) => {
    const cause = stageCause(chain.name, stage, statuses);
    return cause && !isSaid(cause.reason, daemon?.reason) ? [cause] : [];
  });
  return [
    ...(daemon ? [daemon] : []),
    ...stages,
    ...stillCauses(chain, statuses, now),
    ...syncCause(chain.name, facts),
  ];
}

/** Returns a cause only when no daemon is healthy: otherwise a healthy one is used instead. */
function daemonCause(chain: string, daemons: readonly DaemonStatus[]): HealthCause | null {
  if (isAnyHealthy(daemons)) return null;
  const codes = daemons.map(({ fault }) => fault?.code ?? '');
  const detail = codes.map((code, index) => `daemon ${index + 1} of ${chain}: ${code}`).join(', ');
  const code = codes[0] ?? '';
  return {
    subject: `${chain} daemon`,
    reason: { code, chain, stage: null, cause: null, detail, etaSeconds: null },
    passes: codes.includes('daemon_behind_peers'),
  };
}

/** Returns whether a stage only waits for its daemon, whose own fault is reported already. */
function isSaid({ code, cause }: UnreadyReason, daemon: UnreadyReason | undefined): boolean {
  if (!daemon || cause === null) return false;
  return cause === daemon.code || (code === 'stage_waiting' && cause.startsWith('daemon_'));
}

function stageCause(chain: string, stage: ReportingStage, statuses: StageStatuses): HealthCause | null {
  const status = statuses.of(chain, stage);
  const what = `${stage} of ${chain}`;
  const causeWith = (
    summary: Pick<UnreadyReason, 'code' | 'detail'>,
    more: { why?: string; passes?: boolean } = {},
  ): HealthCause => ({
    subject: `${chain} ${stage}`,
    reason: { ...summary, chain, stage, cause: more.why ?? null, etaSeconds: null },
    passes: more.passes ?? false,
  });
  if (!status) return causeWith({ code: 'not_started', detail: `${what} has not started yet` });
  if (statuses.isSilent(chain, stage)) {
    const seconds = Math.round(statuses.ageOf(chain, stage));
    return causeWith({ code: 'not_reporting', detail: `${what} last reported ${seconds} s ago` });
  }
  const why = status.error?.code;
  switch (status.state) {
    case 'starting':
      return causeWith({ code: 'not_started', detail: `${what} is starting` }, { passes: true });
    case 'stopped':
      return causeWith(
        { code: 'stage_stopped', detail: `${what} has stopped: ${why ?? 'no reason was kept'}` },
        why ? { why } : {},
      );
    case 'waiting':
      // Without an error the price stage waits for the clock of another chain, which reports its own stall.
      if (why === undefined) return null;
      // The daemon's watch reports whether it is healthy: a call without an answer may fail long after the daemon is back.
      return causeWith(
        { code: 'stage_waiting', detail: `${what} waits, ${why}` },
        { why, passes: why.startsWith('daemon_') },
      );
    default:
      return null;
  }
}

/** Returns causes when no block arrives, or arrived blocks are not derived. Judged by arrival, not block time: a replay has old blocks. */
function stillCauses({ name, blockSeconds }: NamedChain, statuses: StageStatuses, now: number): HealthCause[] {
  const allowed = QUIET_BLOCKS * blockSeconds;
  const tail = statuses.of(name, 'tail');
  const derive = statuses.of(name, 'derive');
  const causes: HealthCause[] = [];
  const look = (stage: ReportingStage, status: StageStatus) => {
    if (status.state === 'stopped' || statuses.isSilent(name, stage)) return;
    const last = lastArrival(status);
    if (last === null || now - last > allowed * 1000) causes.push(stalled(name, stage, status, allowed));
  };
  if (tail && tail.state !== 'ended') look('tail', tail);
  if (tail && derive && (tail.height ?? -1) > (derive.height ?? -1)) look('derive', derive);
  return causes;
}

/** Returns when the stage last got a block, in milliseconds since the epoch; not before the block's own time. */
function lastArrival({ movedAt, tipTime }: StageStatus): number | null {
  const known = [movedAt, tipTime].filter((time) => time != null).map((time) => Date.parse(time));
  return known.length === 0 ? null : Math.max(...known);
}

function stalled(chain: string, stage: ReportingStage, status: StageStatus, allowed: number): HealthCause {
  const last = lastArrival(status);
  const since =
    last === null
      ? 'has had no block yet'
      : `had its newest block at ${new Date(last).toISOString()}, more than ${allowed} s ago`;
  const error = status.error ? `, ${status.error.code}` : '';
  const detail = `${stage} of ${chain} ${since} (${status.state}${error})`;
  const reason = { code: 'stalled', chain, stage, cause: status.error?.code ?? null, detail, etaSeconds: null };
  return { subject: `${chain} ${stage} still`, reason, passes: false };
}

interface Lagging {
  readonly stage: ReportingStage;
  readonly lag: number;
  readonly rate: number;
}

/** Estimates the time to the daemon's tip from each stage's lag and rate; the slowest stage decides. */
function syncCause(chain: string, { statuses, derived, priced }: ChainFacts): HealthCause[] {
  const well = statuses.daemons(chain).filter(({ fault }) => fault === null);
  const heights = { tail: statuses.of(chain, 'tail')?.height ?? null, derive: derived, price: priced };
  const tip = Math.max(statuses.of(chain, 'tail')?.targetHeight ?? -1, ...well.map(({ height }) => height ?? -1));
  const lagging = REPORTING_STAGES.flatMap((stage): Lagging[] => {
    const status = statuses.of(chain, stage);
    const lag = tip - (heights[stage] ?? -1);
    if (!status || statuses.isSilent(chain, stage) || !isMoving(stage, status) || lag <= IN_STEP_BLOCKS) return [];
    return [{ stage, lag, rate: status.rate }];
  });
  const [first, ...others] = lagging;
  if (!first) return [];
  const furthest = others.reduce((far, each) => (each.lag > far.lag ? each : far), first);
  const etas = lagging.map(({ lag, rate }) => (rate > 0 ? Math.ceil(lag / rate) : null));
  const etaSeconds = etas.includes(null) ? null : Math.max(...etas.map(Number));
  const detail = `${furthest.stage} of ${chain} is ${furthest.lag} blocks behind its daemon, at height ${tip}`;
  const reason = { code: 'syncing', chain, stage: furthest.stage, cause: null, detail, etaSeconds };
  return [{ subject: `${chain} sync`, reason, passes: true }];
}

/** Returns whether the stage's lag counts: waiting and stopped stages are reported anyway, and prices held back by other chains follow them. */
function isMoving(stage: ReportingStage, { state }: StageStatus): boolean {
  return stage === 'price' ? state === 'catching_up' : state === 'catching_up' || state === 'following';
}

/** Returns notes, not reasons: prices cannot pass the clock of a stalled chain, and prices beyond it are provisional. */
export function priceNotes(chains: readonly NamedChain[], statuses: StageStatuses): UnreadyReason[] {
  return chains.flatMap(({ name: chain }) => {
    const status = statuses.of(chain, 'price');
    if (status?.state !== 'waiting' || status.error || statuses.isSilent(chain, 'price')) return [];
    if (status.waitsFor === undefined) return [];
    const detail = `price of ${chain} waits for the clock of ${status.waitsFor}: what is newer is provisional`;
    return [{ code: 'price_waits', chain, stage: 'price' as const, cause: null, detail, etaSeconds: null }];
  });
}

const PUBLISHER_NOTES: Readonly<Record<PublisherState, { readonly code: string } | null>> = {
  heard: null,
  unheard: null,
  silent: { code: 'publisher_silent' },
  unreachable: { code: 'publisher_unreachable' },
};

/** Returns notes for publishers that do not work: the chain is polled instead, which is a little slower. */
export function publisherNotes(chains: readonly NamedChain[], statuses: StageStatuses): UnreadyReason[] {
  return chains.flatMap(({ name: chain }) =>
    statuses.daemons(chain).flatMap(({ publisher }, index) => {
      const note = publisher && PUBLISHER_NOTES[publisher.state];
      if (!note) return [];
      const detail = `the ZMQ publisher of daemon ${index + 1} of ${chain} is ${publisher.state}: the chain is polled`;
      return [{ ...note, chain, stage: null, cause: null, detail, etaSeconds: null }];
    }),
  );
}
