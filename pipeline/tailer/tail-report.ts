/** Report of a tailer, with the figures that only it can measure. */
import { metrics } from '../../infra/metrics.ts';
import type { StageState } from '../../schemas/stage-status.ts';
import { createStageReport, type StageReportOptions } from '../stage/stage-report.ts';
import type { Tip } from './fetched-block.ts';

export interface TailReport {
  /** Position of the log, and the number of blocks just appended. */
  at(tip: Pick<Tip, 'height' | 'time'> | null, appended?: number): void;
  rewound(fork: number, from: number): void;
  target(height: number): void;
  /** `error` says why, for waiting and stopped. */
  state(state: StageState, error?: unknown): void;
}

export type TailReportOptions = Pick<StageReportOptions, 'chain' | 'logger' | 'status' | 'now'>;

const LINES: StageReportOptions['lines'] = { state: (state) => `tailer ${state}`, progress: 'catching up' };

export function createTailReport(options: TailReportOptions): TailReport {
  const { chain, logger } = options;
  let tipTime: string | null = null;
  const report = createStageReport({
    ...options,
    lines: LINES,
    status: (status) => options.status(status.movedAt === null && tipTime !== null ? { ...status, tipTime } : status),
  });
  return {
    at(tip, appended = 0) {
      if (!tip) return report.at(null);
      metrics.tipTime.set({ chain }, tip.time);
      // The stored status keeps when a block of an earlier run arrived; without one the block's own time is the nearest there is.
      if (appended === 0) tipTime = notLater(tip.time * 1000);
      report.at(tip.height, appended);
    },
    rewound(fork, from) {
      metrics.rewindDepth.observe({ chain }, from - fork);
      logger.warn({ chain, fromHeight: from, toHeight: fork, depth: from - fork }, 'chain reorganised: rewound');
      report.rewound(fork);
    },
    target: report.target,
    state: report.state,
  };
}

/** Block times may lie a little ahead. */
function notLater(milliseconds: number): string {
  return new Date(Math.min(Date.now(), milliseconds)).toISOString();
}
