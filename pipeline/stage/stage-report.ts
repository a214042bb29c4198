/** Reports a stage of one chain: its status for the service, and log lines for people. */
import type { Logger } from '../../infra/logger.ts';
import { describeError } from '../../schemas/errors.ts';
import type { StageState, StageStatus } from '../../schemas/stage-status.ts';
import { createStageProgress } from './stage-progress.ts';

export interface StageReport {
  /** The newest block is at `height`, after `blocks` new blocks, which arrived now. */
  at(height: number | null, blocks?: number): void;
  /** The newest block is at `height` after a rewind. */
  rewound(height: number): void;
  /** Sets the target height, which the next status contains. */
  target(height: number | null): void;
  /** Sets the state; `error` is the reason for 'waiting' and 'stopped'. A follower that is a few blocks behind stays 'following'. */
  state(state: StageState, error?: unknown): void;
}

export interface StageReportOptions {
  readonly chain: string;
  /** The height at which the stage begins. */
  readonly height?: number | null;
  readonly logger: Logger;
  /** Called about once a second while blocks arrive, and at each change of state. */
  readonly status: (status: StageStatus) => void;
  readonly lines: {
    readonly state: (state: StageState) => string;
    readonly progress: string;
  };
  /** A monotonic clock in milliseconds. */
  readonly now?: () => number;
}

const STATUS_EVERY_MS = 1000;
const PROGRESS_EVERY_MS = 5000;
const LEVELS = { waiting: 'warn', stopped: 'error' } as const;

export function createStageReport(options: StageReportOptions): StageReport {
  const { chain, logger, status, lines, now = () => performance.now() } = options;
  const progress = createStageProgress(now);
  progress.at(options.height ?? null, 0, null);
  let state: StageState = 'starting';
  let error: StageStatus['error'] = null;
  let statusAt = Number.NEGATIVE_INFINITY;
  let progressAt = Number.NEGATIVE_INFINITY;

  function emit(force: boolean): void {
    if (!force && now() - statusAt < STATUS_EVERY_MS) return;
    statusAt = now();
    const numbers = progress.numbers();
    const etaSeconds = state === 'following' ? 0 : state === 'catching_up' ? progress.etaSeconds() : null;
    status({ state, ...numbers, etaSeconds, error });
    if (state !== 'catching_up' || now() - progressAt < PROGRESS_EVERY_MS) return;
    progressAt = now();
    const { height, targetHeight, rate } = numbers;
    logger.info({ chain, height, targetHeight, rate: Math.round(rate), etaSeconds }, lines.progress);
  }

  return {
    at(height, blocks = 0) {
      progress.at(height, blocks, blocks > 0 ? Date.now() : null);
      emit(blocks > 0 && state === 'following');
    },
    rewound(height) {
      progress.at(height, 0, null);
      emit(true);
    },
    target: progress.target,
    state(asked, cause) {
      const next = asked === 'catching_up' && state === 'following' && progress.isNear() ? 'following' : asked;
      const nextError = cause === undefined ? null : describeError(cause);
      const changed = next !== state || nextError?.code !== error?.code;
      state = next;
      error = nextError;
      if (changed) {
        const { height, targetHeight } = progress.numbers();
        const line = { chain, state, height, targetHeight, ...(error ?? {}) };
        logger[LEVELS[state as keyof typeof LEVELS] ?? 'info'](line, lines.state(state));
      }
      emit(changed);
    },
  };
}
