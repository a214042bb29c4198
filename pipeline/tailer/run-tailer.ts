/** The tailer of a chain: copies the daemon's best chain into the log, block by block, including reorganisations. */
import type { BlockRef } from '../../domain/block-ref.ts';
import type { EventLog } from '../../infra/event-log/event-log.ts';
import type { Logger } from '../../infra/logger.ts';
import { pause } from '../../infra/repeat-until.ts';
import { DaemonAuthFailed, DaemonRpcError } from '../../infra/verusd/daemon-errors.ts';
import { type DaemonNotifications, noNotifications } from '../../infra/verusd/daemon-notifications.ts';
import type { VerusdClient } from '../../infra/verusd/verusd-client.ts';
import type { ChainConfig } from '../../schemas/config.ts';
import { RetryableError } from '../../schemas/errors.ts';
import type { StageStatus } from '../../schemas/stage-status.ts';
import { type BackoffLimits, backoffMs, DAEMON_BACKOFF } from '../stage/backoff.ts';
import { type AnnouncedBlocks, announcedBlocks } from './announced-blocks.ts';
import type { AppendLimits } from './append-branch.ts';
import { createDaemonChain } from './daemon-chain.ts';
import { type LogEnd, openLogEnd } from './log-end.ts';
import { createTailReport } from './tail-report.ts';
import { type StepResult, type TailContext, tailStep, verifyChain } from './tail-step.ts';
import { ChainHalted } from './tailer-errors.ts';

/** The newest block of our chain that the rewind keeps. */
export type AcceptedRewind = BlockRef;

export interface TailerOptions {
  readonly chain: ChainConfig;
  readonly client: VerusdClient;
  /** Notifications of the daemons; without them the tailer only polls. */
  readonly notifications?: DaemonNotifications;
  readonly log: EventLog;
  readonly logger: Logger;
  /** Called about once a second while blocks arrive and at each change of state. */
  readonly status: (status: StageStatus) => void;
  /** Called when the tailer has become the only writer of the log. */
  readonly owned?: () => void;
  /** Ends the tailer. */
  readonly signal: AbortSignal;
  /** Returns whether the daemon will have no more blocks (a bundled recording): then the state at its tip is `ended`. */
  readonly ended?: () => boolean;
  /** Returns the rewind below finality that an operator allows now; each object allows one rewind, to exactly that block. */
  readonly acceptRewind?: () => AcceptedRewind | null;
  /** Called right before the log gets the allowed rewind; returns whether it is still allowed, and ends the permission. */
  readonly takeRewind?: (rewind: AcceptedRewind) => Promise<boolean>;
  /** Milliseconds between two polls of the daemon's tip while no publisher is heard. */
  readonly pollMs?: number;
  readonly retry?: BackoffLimits;
  /** Time limit of a call for blocks: a daemon takes a while to print blocks of tens of megabytes. */
  readonly blockTimeoutMs?: number;
  /** Time limit of every other call. */
  readonly callTimeoutMs?: number;
  readonly limits?: Partial<AppendLimits>;
}

/** Together with the health check once a second, four calls a second. */
const POLL_MS = 334;
/** Poll interval while a publisher is heard, for notifications that it may miss. */
const HEARD_POLL_MS = 1000;
const BLOCK_TIMEOUT_MS = 60_000;
/** A call that a hanging daemon forgot must not delay the tailer for long after the daemon is back. */
const CALL_TIMEOUT_MS = 10_000;
/** A chain that needs an operator is polled less often, by this factor. */
const HALTED_POLLS = 5;
/** Factor for the backoff after refused credentials, which pass only when the operator corrects them. */
const AUTH_SLOWER = 4;
const LIMITS: AppendLimits = {
  parallelism: 8,
  // Enough to keep the daemon busy while a commit of derive or price keeps this process busy (decision 0123).
  blocksACall: 48,
  bytesACall: 1 << 20,
  maxBytesInFlight: 64 << 20,
  // A commit waits for the disk, and other work in the process waits for the commit: so few commits for many blocks.
  batchRecords: 512,
  batchBytes: 8 << 20,
  batchMs: 500,
};

/**
 * Resolves when the signal aborts. Waits out errors of the daemon and retryable errors of the log in state `waiting`; reports a chain
 * that must not be followed as `stopped` and keeps polling it.
 * @throws errors that do not pass (a log that is fenced or corrupt), after reporting them as `stopped`
 */
export async function runTailer(options: TailerOptions): Promise<void> {
  const { signal, pollMs = POLL_MS, retry = DAEMON_BACKOFF, notifications = noNotifications() } = options;
  const context = tailContext({ ...options, notifications }, retry);
  const { report } = context;
  let verified = false;
  let failures = 0;

  /** Reports the error and returns the milliseconds until the next attempt. @throws errors that no retry helps */
  function judge(error: unknown): number {
    if (error instanceof ChainHalted) {
      report.state('stopped', error);
      return pollMs * HALTED_POLLS;
    }
    if (!(error instanceof RetryableError || error instanceof DaemonRpcError)) {
      report.state('stopped', error);
      throw error;
    }
    report.state('waiting', error);
    failures += 1;
    const refused = error instanceof DaemonAuthFailed;
    return backoffMs(failures - 1, refused ? { minMs: retry.maxMs, maxMs: retry.maxMs * AUTH_SLOWER } : retry);
  }

  async function rest(result: StepResult, announced: AnnouncedBlocks): Promise<void> {
    if (result === 'changing') await pause(retry.minMs, signal);
    else if (result === 'still')
      await announced.wait(announced.isHeard() ? Math.max(pollMs, HEARD_POLL_MS) : pollMs, signal);
  }

  async function follow(end: LogEnd, announced: AnnouncedBlocks): Promise<void> {
    while (!signal.aborted) {
      const tip = end.tip();
      report.at(tip);
      try {
        if (!verified) await verifyChain(context, end);
        verified = true;
        const result = await tailStep(context, end, announced.take());
        failures = 0;
        await rest(result, announced);
      } catch (error) {
        if (signal.aborted) return;
        if (end.tip() !== tip) failures = 0;
        if (end.broken()) throw error;
        await pause(judge(error), signal);
      }
    }
  }

  report.state('starting');
  const announced = announcedBlocks(notifications);
  while (!signal.aborted) {
    try {
      await withLogEnd(options, (end) => follow(end, announced));
    } catch (error) {
      if (!signal.aborted) await pause(judge(error), signal);
    }
  }
  announced.close();
}

/** Holds the partition's writer while `work` runs. */
async function withLogEnd(
  { log, chain, logger, owned }: TailerOptions,
  work: (end: LogEnd) => Promise<void>,
): Promise<void> {
  const end = await openLogEnd(log, chain.name, chain.finalityDepth);
  try {
    owned?.();
    await work(end);
  } finally {
    // A failure to close the writer has no effect: the log is read again before the next write.
    await end
      .close()
      .catch((error: unknown) => logger.warn({ chain: chain.name, err: error }, 'closing the log writer failed'));
  }
}

function tailContext(
  options: TailerOptions & { readonly notifications: DaemonNotifications },
  retry: BackoffLimits,
): TailContext {
  const { chain, client, logger, signal } = options;
  const { blockTimeoutMs = BLOCK_TIMEOUT_MS, callTimeoutMs = CALL_TIMEOUT_MS } = options;
  const used = new WeakSet<AcceptedRewind>();
  return {
    chain,
    signal,
    daemon: createDaemonChain({ chain, client, signal, retry, blockTimeoutMs, callTimeoutMs }),
    report: createTailReport({ chain: chain.name, logger, status: options.status }),
    limits: { ...LIMITS, ...options.limits },
    ended: options.ended ?? (() => false),
    foundByAsking: (hash) => options.notifications.saw(hash),
    permission(fork) {
      const permission = options.acceptRewind?.() ?? null;
      if (!permission || used.has(permission)) return null;
      if (permission.height !== fork.height || permission.hash !== fork.hash) return null;
      const take = async (): Promise<boolean> => {
        if (!((await options.takeRewind?.(permission)) ?? true)) return false;
        used.add(permission);
        logger.warn({ chain: chain.name, ...permission }, 'rewinds below finality with the permission of the operator');
        return true;
      };
      return { take };
    },
  };
}
