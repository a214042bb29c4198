/**
 * Forgets what this process has measured as the owner of a stage: once another process owns it, the last values would stay, and the alerts
 * take the largest value of all processes.
 */
import { metrics } from '../../infra/metrics.ts';
import type { ReportingStage } from '../../schemas/stages.ts';

export function forgetStage(stage: ReportingStage, chains: readonly { readonly name: string }[]): void {
  for (const { name: chain } of chains) {
    metrics.stageLag.remove({ chain, stage });
    if (stage === 'derive') metrics.deadLetters.remove({ chain });
    if (stage !== 'price') continue;
    metrics.priceBlocksAhead.remove({ chain });
    metrics.priceWaitsFor.remove({ chain });
  }
}

export function forgetAudit(chains: readonly { readonly name: string }[]): void {
  for (const { name: chain } of chains) {
    metrics.digestMismatches.remove({ chain, check: 'audit' });
    metrics.invariantViolations.remove({ chain });
    metrics.conversionsWithoutStamp.remove({ chain });
  }
}
