/** One complete comparison of both stores, for the `audit` command: every table, every height, every invariant. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Stores } from '../../infra/stores.ts';
import type { Violation } from '../../schemas/audit-report.ts';
import { RetryableError } from '../../schemas/errors.ts';
import type { StageStatus } from '../../schemas/stage-status.ts';
import { createBatchSize } from '../stage/batch-size.ts';
import { createStageProgress } from '../stage/stage-progress.ts';
import { checkRange, keptDigests } from './check-range.ts';
import { INVARIANTS } from './invariants.ts';
import { type AuditedChain, type AuditLedger, type Committed, FACTS, STAMPS } from './ledger.ts';

export type AuditResult = {
  readonly chain: string;
  /** Newest height that was compared; -1 when there is none. */
  readonly height: number;
} & (
  | {
      readonly kind: 'table';
      readonly table: string;
      /** Number of rows in Postgres. */
      readonly rows: number;
      /** First height at which the stores differ; null when they are equal. */
      readonly partsAt: number | null;
    }
  | {
      readonly kind: 'invariant';
      readonly invariant: string;
      /** The first violation; null when the invariant holds. */
      readonly violation: Violation | null;
    }
);

/** Progress after each range of a ledger. */
export interface AuditProgress extends Pick<StageStatus, 'height' | 'targetHeight' | 'rate' | 'etaSeconds'> {
  readonly chain: string;
  readonly ledger: AuditLedger['name'];
}

type ReportProgress = (progress: AuditProgress) => void;

/** The chain was rewound during each attempt to compare a range. */
class AuditDisturbed extends RetryableError {
  constructor(chain: string) {
    super('audit_disturbed', `${chain} was rewound during each of ${ATTEMPTS} attempts; audit again later.`);
  }
}

const ATTEMPTS = 40;
const PAUSE_MS = 250;
export const LARGEST_RANGE = { maxBlocks: 5000 };

export async function* audit(
  stores: Pick<Stores, 'postgres' | 'clickhouse'>,
  chains: readonly AuditedChain[],
  signal: AbortSignal,
  report: ReportProgress = () => undefined,
): AsyncGenerator<AuditResult, void> {
  for (const chain of chains) {
    for (const ledger of [FACTS, STAMPS]) yield* auditLedger(stores, ledger, chain, signal, report);
  }
}

async function* auditLedger(
  stores: Pick<Stores, 'postgres' | 'clickhouse'>,
  ledger: AuditLedger,
  chain: AuditedChain,
  signal: AbortSignal,
  report: ReportProgress,
): AsyncGenerator<AuditResult, void> {
  const progress = createStageProgress();
  const size = createBatchSize(LARGEST_RANGE);
  const rows = new Map<string, number>();
  const partsAt = new Map<string, number>();
  const violations = new Map<string, Violation>();
  let height = -1;
  for (let attempt = 1; ; attempt++) {
    signal.throwIfAborted();
    const committed = await committedOf(stores, ledger, chain);
    const low = height + 1;
    if (!committed || committed.height < low) break;
    const high = Math.min(committed.height, height + size.limits().maxBlocks);
    const began = performance.now();
    const range = { chain, low, high, committed };
    const outcome = await checkRange({ stores, ledger, range, keep: false, unowned: true });
    if (outcome.kind === 'moved') {
      if (attempt === ATTEMPTS) throw new AuditDisturbed(chain.name);
      await sleep(PAUSE_MS, undefined, { signal });
      continue;
    }
    size.took(high - low + 1, (performance.now() - began) / 1000);
    for (const [table, count] of outcome.rows) rows.set(table, (rows.get(table) ?? 0) + count);
    for (const { table, height: at } of outcome.differences) if (!partsAt.has(table)) partsAt.set(table, at);
    for (const violation of outcome.violations) {
      if (!violations.has(violation.invariant)) violations.set(violation.invariant, violation);
    }
    height = high;
    attempt = 0;
    progress.at(height, high - low + 1, null);
    progress.target(committed.height);
    report({ chain: chain.name, ledger: ledger.name, ...progress.numbers(), etaSeconds: progress.etaSeconds() });
  }
  const at = { chain: chain.name, height };
  const tables = ledger.tables.map(({ name }) => name);
  if (partsAt.has(keptDigests(ledger))) tables.push(keptDigests(ledger));
  for (const table of tables) {
    yield { ...at, kind: 'table', table, rows: rows.get(table) ?? 0, partsAt: partsAt.get(table) ?? null };
  }
  if (ledger !== FACTS) return;
  for (const invariant of Object.keys(INVARIANTS)) {
    yield { ...at, kind: 'invariant', invariant, violation: violations.get(invariant) ?? null };
  }
}

export function committedOf(
  { postgres }: Pick<Stores, 'postgres'>,
  ledger: AuditLedger,
  chain: AuditedChain,
): Promise<Committed | null> {
  return postgres.transaction((client) => ledger.committed(client, chain.name));
}
