/** Runs a stage for as long as the program runs: retries after retryable errors; after any other error stops the stage and reports it. */
import type { Logger } from '../../infra/logger.ts';
import { metrics } from '../../infra/metrics.ts';
import { postgresTrouble } from '../../infra/postgres/postgres-errors.ts';
import { pause } from '../../infra/repeat-until.ts';
import { errorCode } from '../../infra/system-errors.ts';
import { messageOf, RetryableError } from '../../schemas/errors.ts';
import type { StageStatus } from '../../schemas/stage-status.ts';
import type { ReportingStage } from '../../schemas/stages.ts';
import type { StageReporter } from './stage-reporter.ts';

/** `owned` must be called whenever the run has become the owner of the stage. */
export type StageRun = (report: (chain: string, status: StageStatus) => void, owned: () => void) => Promise<void>;

export interface Supervised {
  readonly stage: ReportingStage;
  /** The stage's chains: one, or all of them for `price`. */
  readonly chains: readonly string[];
  readonly run: StageRun;
  readonly reporter: StageReporter;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 15_000;
const IDLE: StageStatus = {
  state: 'starting',
  height: null,
  targetHeight: null,
  rate: 0,
  etaSeconds: null,
  movedAt: null,
  error: null,
};

/** Resolves when the signal aborts, or when the stage has stopped for good. */
export async function supervise(options: Supervised): Promise<void> {
  const { stage, chains, run, reporter, logger, signal } = options;
  const last = new Map(chains.map((chain) => [chain, IDLE]));
  let waitMs = FIRST_WAIT_MS;

  function report(chain: string, status: StageStatus): void {
    if (status.height !== last.get(chain)?.height) waitMs = FIRST_WAIT_MS;
    last.set(chain, status);
    reporter.report(stage, chain, status);
  }

  const owned = (): void => {
    for (const chain of chains) reporter.claim(stage, chain);
  };

  while (!signal.aborted) {
    try {
      return await run(report, owned);
    } catch (thrown) {
      if (signal.aborted) return;
      const error = postgresTrouble(thrown) ?? thrown;
      const retry = error instanceof RetryableError;
      const shown = { code: errorCode(error) ?? 'internal_error', message: messageOf(error) };
      for (const [chain, status] of last) {
        report(chain, { ...status, state: retry ? 'waiting' : 'stopped', rate: 0, etaSeconds: null, error: shown });
      }
      const where = `${stage} of ${chains.join(', ')}`;
      if (!retry) {
        for (const chain of chains) metrics.stageLag.remove({ chain, stage }); // another tailer may have taken over
        logger.error({ stage, chains, err: error }, `${where} has stopped: ${shown.message}`);
        return;
      }
      logger.warn({ stage, chains, code: shown.code, waitMs }, `${where} is waiting: ${shown.message}`);
      await pause(waitMs, signal);
      waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS);
    }
  }
}
