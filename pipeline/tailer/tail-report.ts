/** The report of a tailer, with the metrics that only it can measure. */
import { metrics } from '../../infra/metrics.ts';
import type { StageState } from '../../schemas/stage-status.ts';
import { createStageReport, type StageReportOptions } from '../stage/stage-report.ts';
import type { Tip } from './fetched-block.ts';

export interface TailReport {
  /** Reports the tip of the log and the number of blocks just appended. */
  at(tip: Pick<Tip, 'height' | 'time'> | null, appended?: number): void;
  rewound(fork: number, from: number): void;
  target(height: number): void;
  /** Sets the state; `error` is the reason for 'waiting' and 'stopped'. */
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
      // The stored status keeps the arrival time of an earlier run's newest block; without one, its block time is the best estimate.
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

/** Limits a time to now, since block times may be slightly in the future. */
function notLater(milliseconds: number): string {
  return new Date(Math.min(Date.now(), milliseconds)).toISOString();
}
