/** What derive tells about itself: StageStatus for the service and a line of progress for people. */
import type { Logger } from '../../infra/logger.ts';
import type { StageState, StageStatus } from '../../schemas/stage-status.ts';
import { createRateMeter } from '../stage/rate-meter.ts';

export interface DeriveReport {
  state(state: StageState): void;
  /** Newest block of the log. */
  target(height: number | null): void;
  /** Newest block in the stores after a batch of `blocks`. */
  moved(height: number, blocks: number): void;
  rewound(height: number, fromHeight: number): void;
}

export interface DeriveReportOptions {
  readonly chain: string;
  readonly height: number | null;
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

export function createDeriveReport(options: DeriveReportOptions): DeriveReport {
  const { chain, logger, status, now = () => performance.now() } = options;
  const meter = createRateMeter(RATE_WINDOW_MS, now);
  let state: StageState = 'starting';
  let height = options.height;
  let targetHeight: number | null = null;
  let movedAt: string | null = null;
  let statusAt = Number.NEGATIVE_INFINITY;
  let progressAt = now();

  function emit(force: boolean): void {
    if (!force && now() - statusAt < STATUS_EVERY_MS) return;
    statusAt = now();
    const rate = meter.rate();
    const left = Math.max(0, (targetHeight ?? -1) - (height ?? -1));
    const moving = state === 'catching_up' && rate > 0;
    const etaSeconds = state === 'following' ? 0 : moving ? Math.ceil(left / rate) : null;
    status({ state, height, targetHeight, rate, etaSeconds, movedAt, error: null });
    if (!moving || now() - progressAt < PROGRESS_EVERY_MS) return;
    progressAt = now();
    logger.info({ chain, height, targetHeight, blocksPerSecond: Math.round(rate), etaSeconds }, 'deriving');
  }

  const report: DeriveReport = {
    state(next) {
      const changed = next !== state;
      state = next;
      if (changed) logger.info({ chain, height, targetHeight }, `derive: ${next.replace('_', ' ')}`);
      emit(changed);
    },
    target(newTarget) {
      targetHeight = newTarget;
      if (state === 'following' && (targetHeight ?? -1) - (height ?? -1) > FOLLOWING_LAG) report.state('catching_up');
    },
    moved(newHeight, blocks) {
      height = newHeight;
      movedAt = new Date().toISOString();
      meter.add(blocks);
      emit(false);
    },
    rewound(newHeight, fromHeight) {
      height = newHeight;
      logger.info({ chain, height, fromHeight }, 'derive: rewound');
      emit(true);
    },
  };
  return report;
}
