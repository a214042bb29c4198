/** The position and speed of a stage of one chain. */
import type { StageStatus } from '../../schemas/stage-status.ts';
import { createRateMeter } from './rate-meter.ts';

export interface StageProgress {
  /** The newest block is at `height`, after `blocks` new blocks. `arrivedAt` is its time of arrival in ms; null keeps the previous time. */
  at(height: number | null, blocks: number, arrivedAt: number | null): void;
  target(height: number | null): void;
  numbers(): Pick<StageStatus, 'height' | 'targetHeight' | 'rate' | 'movedAt'>;
  /** Returns the number of blocks left. */
  lag(): number;
  /** Returns whether so few blocks are left that the stage counts as following. */
  isNear(): boolean;
  /** Returns null while the rate is 0 or unknown. */
  etaSeconds(): number | null;
}

const RATE_WINDOW_MS = 30_000;
const FOLLOWING_LAG = 5;

/** `now` is a monotonic clock in milliseconds. */
export function createStageProgress(now: () => number = () => performance.now()): StageProgress {
  const meter = createRateMeter(RATE_WINDOW_MS, now);
  let height: number | null = null;
  let targetHeight: number | null = null;
  let movedAt: string | null = null;
  const lag = (): number => Math.max(0, (targetHeight ?? -1) - (height ?? -1));
  return {
    at(newHeight, blocks, arrivedAt) {
      height = newHeight;
      if (blocks > 0) meter.add(blocks);
      if (arrivedAt !== null) movedAt = new Date(arrivedAt).toISOString();
    },
    target(newTarget) {
      targetHeight = newTarget;
    },
    numbers: () => ({ height, targetHeight, rate: meter.rate(), movedAt }),
    lag,
    isNear: () => lag() <= FOLLOWING_LAG,
    etaSeconds() {
      const rate = meter.rate();
      if (lag() === 0) return 0;
      return rate > 0 ? Math.ceil(lag() / rate) : null;
    },
  };
}
