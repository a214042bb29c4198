/** Compares a range of heights of both stores and of the kept digests. Apparent differences are checked again while the stages pause. */
import type { PoolClient } from 'pg';
import { readRow } from '../../infra/postgres/read-rows.ts';
import { columns, rowReader } from '../../infra/row-reader.ts';
import type { Stores } from '../../infra/stores.ts';
import type { Mismatch, Violation } from '../../schemas/audit-report.ts';
import { messageOf } from '../../schemas/errors.ts';
import { isNotAtRest, pauseStages } from '../stage/pause-stages.ts';
import { brokenInvariants } from './invariants.ts';
import type { AuditLedger } from './ledger.ts';
import { clickhouseContents, firstDifference, isSame, postgresContents, type Range } from './range-content.ts';

export type RangeOutcome =
  /** Inconclusive: a rewind intervened, a stage does not pause, or no process owns the rows now. */
  | { readonly kind: 'moved' }
  | {
      readonly kind: 'checked';
      /** Number of rows in Postgres, by table. */
      readonly rows: ReadonlyMap<string, number>;
      /** First differing height of each table, lowest first. */
      readonly differences: readonly Mismatch[];
      readonly violations: readonly Violation[];
    };

export interface CheckOptions {
  readonly stores: Pick<Stores, 'postgres' | 'clickhouse'>;
  readonly ledger: AuditLedger;
  readonly range: Range;
  /** Whether to keep the digests of the range if everything is equal. */
  readonly keep: boolean;
  /** Whether to report a difference even if no stage runs that would repair it after a crash. */
  readonly unowned?: boolean;
}

/** Table name for a difference between the kept digests and the rows, while both stores are equal. */
export const keptDigests = ({ name }: AuditLedger): string => `kept digests of ${name}`;

const MOVED: RangeOutcome = { kind: 'moved' };

/** Rolls the transaction back, and with it the kept digests, since the range is not as expected. */
class NotKept extends Error {
  readonly outcome: RangeOutcome;
  constructor(outcome: RangeOutcome) {
    super('not kept');
    this.outcome = outcome;
  }
}

export async function checkRange(options: CheckOptions): Promise<RangeOutcome> {
  const { stores, ledger, range, keep } = options;
  try {
    return await stores.postgres.transaction(async (client) => {
      const outcome = await check(client, options);
      if (keep && (outcome.kind === 'moved' || outcome.differences.length > 0)) throw new NotKept(outcome);
      return outcome;
    });
  } catch (error) {
    if (error instanceof NotKept) return error.outcome;
    if (isNotAtRest(error)) return MOVED;
    throw new Error(
      `heights ${range.low} to ${range.high} of ${range.chain.name} (${ledger.name}): ${messageOf(error)}`,
      {
        cause: error,
      },
    );
  }
}

async function check(client: PoolClient, options: CheckOptions): Promise<RangeOutcome> {
  const { stores, ledger, range, keep, unowned = false } = options;
  const before = await witness(client, ledger, range);
  const postgres = await postgresContents(client, ledger, range, keep);
  const clickhouse = await clickhouseContents(stores.clickhouse, ledger, range);
  const violations = ledger.name === 'facts' ? await brokenInvariants(client, range) : [];
  const rows = new Map([...postgres.contents].map(([table, content]) => [table, Number(content.rows)]));
  const suspects = ledger.tables.filter(({ name }) => !isSame(postgres.contents.get(name), clickhouse.get(name)));
  const isDoubtful = suspects.length > 0 || postgres.strayed !== null || violations.length > 0;
  if (!isDoubtful && !keep) return { kind: 'checked', rows, differences: [], violations };

  const owned = await pauseStages(client, ledger.writers(range.chain.name));
  if (before === null || (await witness(client, ledger, range)) !== before) return MOVED;
  if (!isDoubtful) return { kind: 'checked', rows, differences: [], violations };
  if (!owned && !unowned) return MOVED;
  const committed = await ledger.committed(client, range.chain.name);
  if (!committed || committed.height < range.high) return MOVED;
  const atRest = { ...range, committed };
  const differences: Mismatch[] = [];
  for (const table of suspects) {
    const height = await firstDifference(client, stores.clickhouse, table, atRest);
    if (height !== null) differences.push({ table: table.name, height });
  }
  if (suspects.length > 0 && differences.length === 0) return MOVED;
  if (differences.length === 0 && postgres.strayed !== null) {
    differences.push({ table: keptDigests(ledger), height: postgres.strayed });
  }
  return { kind: 'checked', rows, differences: differences.sort((a, b) => a.height - b.height), violations };
}

const readWitness = rowReader({ witness: columns.text });

async function witness(client: PoolClient, { witness: sql }: AuditLedger, { chain, high, committed }: Range) {
  return (await readRow(client, readWitness, sql, [chain.name, high, committed.tick]))?.witness ?? null;
}
