/** Watches one ledger of one chain: compares new ranges and keeps their digests, and compares the kept ranges again in turn. */

import { isDeepStrictEqual } from 'node:util';
import { readRow } from '../../infra/postgres/read-rows.ts';
import { columns, type RowRead, rowReader } from '../../infra/row-reader.ts';
import type { Stores } from '../../infra/stores.ts';
import type { Mismatch, Violation } from '../../schemas/audit-report.ts';
import { createBatchSize } from '../stage/batch-size.ts';
import { committedOf, LARGEST_RANGE } from './audit.ts';
import { checkRange, keptDigests, type RangeOutcome } from './check-range.ts';
import type { AuditedChain, AuditLedger, Committed } from './ledger.ts';

export interface LedgerWatch {
  /** Compares ranges that are not kept yet until `end` aborts; does nothing if nothing has moved, unless `again`. */
  extend(end: AbortSignal, again: boolean): Promise<Findings>;
  /** Compares kept ranges again, at least one, continuing where the last call ended; it stays at a range that differs. */
  revisit(end: AbortSignal): Promise<Findings>;
  /** Returns the newest kept height up to `upTo`, and its digest in hex. */
  kept(upTo?: number): Promise<Kept | null>;
  isAbout(table: string): boolean;
}

const readKept = rowReader({ height: columns.number, digest: columns.text });
export type Kept = RowRead<typeof readKept>;

export interface Findings {
  readonly mismatch: Mismatch | null;
  readonly violations: readonly Violation[];
  /** The rows moved during the check, so it may have missed a difference. */
  readonly isDisturbed: boolean;
  /** True if all kept ranges, from height 0 on, have been compared since `revisit` last returned true here. */
  readonly isRound: boolean;
}

type Checked = Extract<RangeOutcome, { kind: 'checked' }>;

export function createLedgerWatch(
  stores: Pick<Stores, 'postgres' | 'clickhouse'>,
  ledger: AuditLedger,
  chain: AuditedChain,
  /** Height at which `revisit` begins. */
  from: number,
): LedgerWatch {
  const size = createBatchSize(LARGEST_RANGE);
  let next = from;
  let isWhole = from === 0;
  /** The committed state and the newest kept digest when `extend` last found no difference. */
  let compared: readonly [Committed, Kept | null] | null = null;

  /** Returns null when the chain moved. */
  async function check(low: number, high: number, keep: boolean): Promise<Checked | null> {
    const committed = await committedOf(stores, ledger, chain);
    if (!committed || committed.height < high || (keep && committed.settledHeight < high)) return null;
    const began = performance.now();
    const outcome = await checkRange({ stores, ledger, range: { chain, low, high, committed }, keep });
    size.took(high - low + 1, (performance.now() - began) / 1000);
    return outcome.kind === 'checked' ? outcome : null;
  }

  const kept = async (upTo?: number) => keptOf(await committedOf(stores, ledger, chain), upTo);

  async function keptOf(committed: Committed | null, upTo = Number.POSITIVE_INFINITY): Promise<Kept | null> {
    const values = [chain.name, Math.min(upTo, committed?.height ?? -1), committed?.generation ?? 0];
    return (await readRow(stores.postgres.pool, readKept, ledger.newestKept, values)) ?? null;
  }

  return {
    kept,
    isAbout: (table) => table === keptDigests(ledger) || ledger.tables.some(({ name }) => name === table),

    async extend(end, again) {
      const violations: Violation[] = [];
      const found = (mismatch: Mismatch | null, isDisturbed: boolean): Findings => {
        return { mismatch, violations, isDisturbed, isRound: false };
      };
      const committed = await committedOf(stores, ledger, chain);
      if (!committed) return found(null, true);
      const newest = await keptOf(committed);
      // A rewind also removes kept digests, so the same height of another branch does not compare as equal.
      if (!again && isDeepStrictEqual([committed, newest], compared)) return found(null, false);
      let low = (newest?.height ?? -1) + 1;
      while (low <= committed.height && !end.aborted) {
        const keep = low <= committed.settledHeight;
        const last = keep ? committed.settledHeight : committed.height;
        const high = Math.min(last, low + size.limits().maxBlocks - 1);
        const outcome = await check(low, high, keep);
        if (!outcome) return found(null, true);
        const [mismatch] = outcome.differences;
        violations.push(...outcome.violations.filter(({ height }) => !mismatch || height < mismatch.height));
        if (mismatch) {
          if (keep && mismatch.height > low) await check(low, mismatch.height - 1, true);
          return found(mismatch, false);
        }
        low = high + 1;
      }
      compared = low > committed.height ? [committed, await keptOf(committed)] : null;
      return found(null, false);
    },

    async revisit(end) {
      const violations: Violation[] = [];
      const newest = (await kept())?.height ?? -1;
      do {
        if (next > newest) {
          const isRound = isWhole;
          next = 0;
          isWhole = true;
          return { mismatch: null, violations, isDisturbed: false, isRound };
        }
        const high = Math.min(newest, next + size.limits().maxBlocks - 1);
        const outcome = await check(next, high, false);
        if (!outcome) return { mismatch: null, violations, isDisturbed: true, isRound: false };
        violations.push(...outcome.violations);
        const [mismatch = null] = outcome.differences;
        if (mismatch) return { mismatch, violations, isDisturbed: false, isRound: false };
        next = high + 1;
      } while (!end.aborted);
      return { mismatch: null, violations, isDisturbed: false, isRound: false };
    },
  };
}
