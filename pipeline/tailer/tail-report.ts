/** The report of a tailer, with what only it can measure. */
import { metrics } from '../../infra/metrics.ts';
import type { StageState } from '../../schemas/stage-status.ts';
import { createStageReport, type StageReportOptions } from '../stage/stage-report.ts';
import type { Tip } from './fetched-block.ts';

export interface TailReport {
  /** Where the log stands, and how many blocks have just been appended. */
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
  const report = createStageReport({ ...options, lines: LINES });
  let hasArrival = false;
  return {
    at(tip, appended = 0) {
      if (!tip) return report.at(null);
      metrics.tipTime.set({ chain }, tip.time);
      // When the blocks of an earlier run arrived is not kept: their own time is the nearest there is, and it may lie a little ahead.
      if (appended > 0 || hasArrival) report.at(tip.height, appended);
      else report.at(tip.height, 0, Math.min(Date.now(), tip.time * 1000));
      hasArrival = true;
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
