/** The audit state of one chain: combines the findings of the watches and reports changes. */
import type { Logger } from '../../infra/logger.ts';
import { metrics } from '../../infra/metrics.ts';
import { withOwnSignal } from '../../infra/repeat-until.ts';
import type { Stores } from '../../infra/stores.ts';
import type { AuditReport, AuditState, Found, Mismatch, Violation } from '../../schemas/audit-report.ts';
import { type AuditedChain, FACTS, STAMPS } from './ledger.ts';
import { createLedgerWatch, type Findings, type Kept, type LedgerWatch } from './ledger-watch.ts';
import { createUnstampedCount } from './unstamped.ts';

export interface ChainAudit {
  /** Compares for a while, or until `signal` aborts. */
  look(signal: AbortSignal): Promise<AuditReport>;
}

/** Limit of one comparison, so that the stages and the API get their share of the stores. */
const EXTEND_MS = 5000;
const REVISIT_MS = 100;
/** Rows that were compared before are compared again only at every fourth look, so that an idle service mostly waits. */
const REVISIT_LOOKS = 4;

/** `last` is the report of an earlier process. */
export function createChainAudit(
  stores: Pick<Stores, 'postgres' | 'clickhouse'>,
  chain: AuditedChain,
  last: Pick<AuditReport, 'lastMismatch' | 'lastViolation'> | null,
  logger: Logger,
): ChainAudit {
  const { name } = chain;
  const begin = last?.lastMismatch?.lasts ? last.lastMismatch.height : 0;
  const facts = createLedgerWatch(stores, FACTS, chain, begin);
  const stamps = createLedgerWatch(stores, STAMPS, chain, begin);
  const unstamped = createUnstampedCount(stores.postgres, name);
  let mismatch: Found<Mismatch> | null = last?.lastMismatch ?? null;
  let violation: Found<Violation> | null = last?.lastViolation ?? null;
  /** The lowest violation since the last complete round. */
  let inRound: Violation | null = null;

  function reportMismatch(seen: ReadonlyMap<LedgerWatch, readonly Findings[]>): void {
    const found = lowest([...seen.values()].flat().flatMap((finding) => finding.mismatch ?? []));
    if (!found) {
      const { table = '', lasts = false } = mismatch ?? {};
      const looks = [...seen].flatMap(([watch, findings]) => (watch.isAbout(table) ? findings : []));
      if (!mismatch || !lasts || looks.some(({ isDisturbed }) => isDisturbed)) return;
      mismatch = { ...mismatch, lasts: false };
      logger.info(
        { chain: name, table: mismatch.table, height: mismatch.height },
        `audit: ${name}: Postgres and ClickHouse agree again`,
      );
    } else if (!mismatch?.lasts || found.height !== mismatch.height || found.table !== mismatch.table) {
      mismatch = { ...found, foundAt: new Date().toISOString(), lasts: true };
      logger.error(
        { chain: name, ...found },
        `audit: ${name}: Postgres and ClickHouse differ from height ${found.height} on in ${found.table}; run verustream verify`,
      );
    }
  }

  function reportViolation(findings: readonly Findings[]): void {
    const found = lowest(findings.flatMap(({ violations }) => violations));
    if (found && !(inRound && inRound.height <= found.height)) inRound = found;
    const current = violation?.lasts ? violation : null;
    if (inRound && !(current && current.height <= inRound.height)) {
      violation = { ...inRound, foundAt: new Date().toISOString(), lasts: true };
      logger.error(
        { chain: name, ...inRound },
        `audit: ${name}: ${inRound.invariant} does not hold at height ${inRound.height}`,
      );
    }
    if (!findings.some(({ isRound }) => isRound)) return;
    if (violation?.lasts && !inRound) violation = { ...violation, lasts: false };
    inRound = null;
  }

  let withoutStamp: number | null = null;
  let looks = 0;

  async function countUnstamped(): Promise<void> {
    const count = await unstamped.count();
    if (count === null || count === withoutStamp) return;
    withoutStamp = count;
    if (count > 0) logger.error({ chain: name, count }, `audit: ${name}: ${count} settled conversions have no stamp`);
    metrics.conversionsWithoutStamp.set({ chain: name }, count);
  }

  function state(checkedHeight: number | null): AuditState {
    if (mismatch?.lasts) return 'differs';
    if (violation?.lasts) return 'violated';
    return checkedHeight === null ? 'pending' : 'equal';
  }

  /** Returns the height up to which a watch has found the stores equal, and the digest there. */
  async function agreed(watch: LedgerWatch): Promise<Kept | null> {
    const parted = mismatch?.lasts && watch.isAbout(mismatch.table) ? mismatch.height : Number.POSITIVE_INFINITY;
    return watch.kept(parted - 1);
  }

  return {
    async look(signal) {
      const seen = new Map<LedgerWatch, readonly Findings[]>();
      const revisits = mismatch?.lasts || violation?.lasts || looks % REVISIT_LOOKS === 0;
      looks += 1;
      for (const watch of [facts, stamps]) {
        const found = [await withOwnSignal(signal, EXTEND_MS, (own) => watch.extend(own, revisits))];
        if (revisits) found.push(await withOwnSignal(signal, REVISIT_MS, (own) => watch.revisit(own)));
        seen.set(watch, found);
      }
      reportMismatch(seen);
      reportViolation(seen.get(facts) ?? []);
      await countUnstamped();
      metrics.digestMismatches.set({ chain: name, check: 'audit' }, mismatch?.lasts ? 1 : 0);
      metrics.invariantViolations.set({ chain: name }, violation?.lasts ? 1 : 0);
      const [ofFacts, ofStamps] = [await agreed(facts), await agreed(stamps)];
      return {
        state: state(ofFacts?.height ?? null),
        checkedHeight: ofFacts?.height ?? null,
        stampsCheckedHeight: ofStamps?.height ?? null,
        digest: ofFacts?.digest ?? null,
        conversionsWithoutStamp: withoutStamp,
        checkedAt: new Date().toISOString(),
        lastMismatch: mismatch,
        lastViolation: violation,
      };
    },
  };
}

function lowest<T extends { readonly height: number }>(found: readonly T[]): T | null {
  return found.reduce<T | null>((low, one) => (low && low.height <= one.height ? low : one), null);
}
