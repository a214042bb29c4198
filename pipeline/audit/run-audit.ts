/** The audit that runs alongside the stages and finds differences between the stores and broken invariants. */
import type { Logger } from '../../infra/logger.ts';
import { readRow } from '../../infra/postgres/read-rows.ts';
import { pause, repeatUntil } from '../../infra/repeat-until.ts';
import { columns, rowReader } from '../../infra/row-reader.ts';
import { readAuditReport, type StoredReport } from '../../infra/stored-json/audit-report.ts';
import type { Stores } from '../../infra/stores.ts';
import type { AuditReport } from '../../schemas/audit-report.ts';
import { ALL_CHAINS } from '../../schemas/stages.ts';
import { forgetAudit } from '../stage/forget-metrics.ts';
import { ownStage } from '../stage/own-stage.ts';
import type { StageLock } from '../stage/stage-lock.ts';
import { type ChainAudit, createChainAudit } from './chain-audit.ts';
import type { AuditedChain } from './ledger.ts';

export interface RunAuditOptions {
  readonly stores: Pick<Stores, 'postgres' | 'clickhouse'>;
  readonly chains: readonly AuditedChain[];
  readonly logger: Logger;
  readonly signal: AbortSignal;
  /** Pause between two looks at all chains. */
  readonly restMs?: number;
}

const REST_MS = 15_000;
const FIRST_REST_MS = 5000;

/** Resolves when the signal aborts. One process audits at a time; failures are logged and retried. */
export async function runAudit(options: RunAuditOptions): Promise<void> {
  const { stores, chains, logger, signal, restMs = REST_MS } = options;
  await pause(Math.min(FIRST_REST_MS, restMs), signal);
  const taken = () => forgetAudit(chains);
  const owner = { postgres: stores.postgres, stage: 'audit', chain: ALL_CHAINS, signal, taken } as const;
  await repeatUntil(signal, () => ownStage(owner, (lock) => lookForEver(options, lock, restMs)), {
    retryMs: restMs,
    onError: (err) => logger.warn({ err }, 'the audit failed; trying again'),
  });
}

async function lookForEver(options: RunAuditOptions, lock: StageLock, restMs: number): Promise<void> {
  const { stores, chains, logger, signal } = options;
  const audits: { readonly name: string; readonly audit: ChainAudit }[] = [];
  for (const chain of chains) {
    const last = await readReport(stores, chain.name);
    audits.push({ name: chain.name, audit: createChainAudit(stores, chain, last, logger) });
  }
  while (!signal.aborted) {
    for (const { name, audit } of audits) {
      if (signal.aborted) return;
      await writeReport(lock, name, await audit.look(signal));
    }
    await pause(restMs, signal);
  }
}

const readStored = rowReader({ report: columns.text });

async function readReport({ postgres }: Pick<Stores, 'postgres'>, chain: string): Promise<StoredReport | null> {
  const row = await readRow(postgres.pool, readStored, 'SELECT report FROM audits WHERE chain = $1', [chain]);
  return row ? readAuditReport(row.report) : null;
}

/** Runs on the session of the lock, so that a process that has lost it reports nothing. */
async function writeReport(lock: StageLock, chain: string, report: AuditReport): Promise<void> {
  await lock.transaction((client) =>
    client.query(
      `INSERT INTO audits VALUES ($1, $2, now())
       ON CONFLICT (chain) DO UPDATE SET report = EXCLUDED.report, updated_at = EXCLUDED.updated_at`,
      [chain, JSON.stringify(report)],
    ),
  );
}
