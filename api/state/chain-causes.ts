/**
 * What keeps a chain from being served up to date, by what its stages and the watch over its daemons said last. Pure: for how long a
 * cause has stood is judged in standing-causes.ts. The table of all of them is docs/health.md. Errors are shown by their code alone: their
 * messages name files and addresses, which are for the log and `status`.
 */
import type { ChainConfig } from '../../schemas/config.ts';
import { type DaemonStatus, isAnyHealthy, type PublisherState } from '../../schemas/daemon-status.ts';
import type { StageStatus } from '../../schemas/stage-status.ts';
import { REPORTING_STAGES, type ReportingStage } from '../../schemas/stages.ts';
import type { StageStatuses } from './stage-statuses.ts';

export interface UnreadyReason {
  /** A code of docs/errors.md: one of its list of reasons, or the fault of a daemon or a store. */
  readonly code: string;
  /** Null: of all chains. */
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
  /** A matter of a few blocks, or of one call, which often passes by itself: it counts once it has lasted for a moment. */
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
/** A stage this few blocks behind its daemon is in step with it. */
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

/** Only when none is well: the others are asked instead of those that are not. */
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

/** The stage that waits for a daemon says nothing that the daemon's own fault does not say. */
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
      // Whether a daemon is well its watch says; a call that it never answered may fail long after it has come back.
      return causeWith(
        { code: 'stage_waiting', detail: `${what} waits, ${why}` },
        { why, passes: why.startsWith('daemon_') },
      );
    default:
      return null;
  }
}

/** No block arrives (by arrival, not block time: blocks of a replay are old), or arrived blocks are not derived. */
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

/** When the stage last had a block, in milliseconds since the epoch: a block cannot have arrived before its own time. */
function lastArrival({ movedAt, tipTime }: StageStatus): number | null {
  const known = [movedAt, tipTime].filter((time) => time != null).map((time) => Date.parse(time));
  return known.length === 0 ? null : Math.max(...known);
}

function stalled(chain: string, stage: ReportingStage, status: StageStatus, allowed: number): HealthCause {
  const last = lastArrival(status);
  const since = last === null ? 'had no block yet' : `had its newest block at ${new Date(last).toISOString()}`;
  const error = status.error ? `, ${status.error.code}` : '';
  const detail = `${stage} of ${chain} ${since}, more than ${allowed} s ago (${status.state}${error})`;
  const reason = { code: 'stalled', chain, stage, cause: status.error?.code ?? null, detail, etaSeconds: null };
  return { subject: `${chain} ${stage} still`, reason, passes: false };
}

interface Lagging {
  readonly stage: ReportingStage;
  readonly lag: number;
  readonly rate: number;
}

/** Distance to the daemon's tip by each stage's rate; the chain is in step when the slowest of them is. */
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

/** Stages that wait or have stopped report it themselves; prices held back by other chains follow when these move. */
function isMoving(stage: ReportingStage, { state }: StageStatus): boolean {
  return stage === 'price' ? state === 'catching_up' : state === 'catching_up' || state === 'following';
}

/** A note, not a reason: prices cannot pass the clock of a stalled chain, and those beyond it are provisional. */
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

/** Notes: without what a publisher says a chain is polled, which is a little slower. */
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
