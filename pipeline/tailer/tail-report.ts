/** What the tailer tells about itself: StageStatus for the service, log lines for people, and what only it can measure. */
import type { Logger } from '../../infra/logger.ts';
import { metrics } from '../../infra/metrics.ts';
import { VerustreamError } from '../../schemas/errors.ts';
import type { StageState, StageStatus } from '../../schemas/stage-status.ts';
import type { Tip } from './fetched-block.ts';
import { createRateMeter } from './rate-meter.ts';

export interface TailReport {
  /** Where the log stands, and how many blocks have just been appended. */
  at(tip: Pick<Tip, 'height' | 'time'> | null, appended?: number): void;
  rewound(fork: number, from: number): void;
  target(height: number): void;
  /** `error` says why, for waiting and stopped. */
  state(state: StageState, error?: unknown): void;
}

export interface TailReportOptions {
  readonly chain: string;
  readonly logger: Logger;
  readonly status: (status: StageStatus) => void;
  /** Milliseconds, monotonic. */
  readonly now?: () => number;
}

const RATE_WINDOW_MS = 30_000;
const STATUS_EVERY_MS = 1000;
const PROGRESS_EVERY_MS = 5000;
/** A follower that is this few blocks behind is still following. */
const FOLLOWING_LAG = 5;
const LEVELS = { waiting: 'warn', stopped: 'error' } as const;

export function createTailReport({
  chain,
  logger,
  status,
  now = () => performance.now(),
}: TailReportOptions): TailReport {
  const meter = createRateMeter(RATE_WINDOW_MS, now);
  let height: number | null = null;
  let targetHeight: number | null = null;
  let movedAt: string | null = null;
  let tipTime: string | null = null;
  let state: StageState = 'starting';
  let error: StageStatus['error'] = null;
  let statusAt = Number.NEGATIVE_INFINITY;
  let progressAt = Number.NEGATIVE_INFINITY;

  function lag(): number {
    return Math.max(0, (targetHeight ?? height ?? 0) - (height ?? -1));
  }

  function emit(force: boolean): void {
    const due = force || now() - statusAt >= STATUS_EVERY_MS;
    if (!due) return;
    statusAt = now();
    const rate = meter.rate();
    const eta = rate > 0 ? Math.ceil(lag() / rate) : null;
    const etaSeconds = state === 'catching_up' ? eta : state === 'following' ? 0 : null;
    const start = movedAt === null && tipTime !== null ? { tipTime } : {};
    status({ state, height, targetHeight, rate, etaSeconds, movedAt, error, ...start });
    if (state === 'catching_up' && now() - progressAt >= PROGRESS_EVERY_MS) {
      progressAt = now();
      logger.info({ chain, height, targetHeight, rate: Math.round(rate), etaSeconds }, 'catching up');
    }
  }

  return {
    at(tip, appended = 0) {
      height = tip?.height ?? null;
      if (tip) {
        metrics.tipTime.set({ chain }, tip.time);
        if (appended > 0) movedAt = new Date().toISOString();
        // The stored status keeps when a block of an earlier run arrived; without one the block's own time is the nearest there is.
        else tipTime = notLater(tip.time * 1000);
      }
      if (appended > 0) meter.add(appended);
      emit(appended > 0 && state === 'following');
    },
    rewound(fork, from) {
      metrics.rewindDepth.observe({ chain }, from - fork);
      logger.warn({ chain, fromHeight: from, toHeight: fork, depth: from - fork }, 'chain reorganised: rewound');
      height = fork;
      emit(true);
    },
    target(newTarget) {
      targetHeight = newTarget;
      emit(false);
    },
    state(asked, cause) {
      const next = asked === 'catching_up' && state === 'following' && lag() <= FOLLOWING_LAG ? 'following' : asked;
      const nextError = cause === undefined ? null : describe(cause);
      const changed = next !== state || nextError?.code !== error?.code;
      state = next;
      error = nextError;
      if (changed) {
        const line = { chain, state, height, targetHeight, ...(error ?? {}) };
        logger[LEVELS[state as keyof typeof LEVELS] ?? 'info'](line, 'tailer %s', state);
      }
      emit(changed);
    },
  };
}

/** Block times may lie a little ahead. */
function notLater(milliseconds: number): string {
  return new Date(Math.min(Date.now(), milliseconds)).toISOString();
}

function describe(cause: unknown): { code: string; message: string } {
  if (cause instanceof VerustreamError) return { code: cause.code, message: cause.message };
  return { code: 'internal_error', message: cause instanceof Error ? cause.message : String(cause) };
}
