/** Postgres against ClickHouse: both count and digest their own rows; where they part, the first bucket of heights is named. */
import type { Stores } from '../../infra/stores.ts';
import { AUDITED_CONVERSIONS, AUDITED_TABLES, type AuditedTable, type StoreRows } from './audited-tables.ts';

export interface AuditResult {
  readonly chain: string;
  readonly table: string;
  /** Newest height that was compared; -1 when there is none. */
  readonly height: number;
  readonly rows: number;
  /** Null when both hold the same. */
  readonly partsAt: { readonly fromHeight: number; readonly toHeight: number } | null;
}

export interface AuditedChain {
  readonly name: string;
  readonly nativeCurrencyId: string;
}

/** Rows, and the sum of 60 bits of each row's MD5: a lost, doubled or changed row changes it, the order does not. */
interface Digest {
  readonly bucket: number;
  readonly rows: string;
  readonly digest: string;
}

interface Limits {
  readonly chain: AuditedChain;
  readonly height: number;
  readonly tick: bigint;
}

const BUCKET = 1000;
const ATTEMPTS = 5;

/** Compares every table of every chain up to the height that is committed. */
export async function* audit(stores: Stores, chains: readonly AuditedChain[]): AsyncIterable<AuditResult> {
  for (const chain of chains) {
    for (const table of AUDITED_TABLES) yield compare(stores, table, chain, 'derive');
    yield compare(stores, AUDITED_CONVERSIONS, chain, 'price');
  }
}

/** A rewind between the two reads looks like a difference: it is read again until nothing moved meanwhile. */
async function compare(
  stores: Stores,
  table: AuditedTable,
  chain: AuditedChain,
  stage: 'derive' | 'price',
): Promise<AuditResult> {
  for (let attempt = 1; ; attempt++) {
    const limits = await committed(stores, chain, stage);
    const [postgres, clickhouse] = await Promise.all([
      digestPostgres(stores, table.postgres, limits, stage),
      digestClickHouse(stores, table.clickhouse, limits),
    ]);
    const bucket = firstDifference(postgres, clickhouse);
    const rows = postgres.reduce((sum, row) => sum + Number(row.rows), 0);
    const result = { chain: chain.name, table: table.name, height: limits.height, rows };
    if (bucket === null) return { ...result, partsAt: null };
    const now = await committed(stores, chain, stage);
    const moved = now.height !== limits.height || now.tick !== limits.tick;
    if (moved && attempt < ATTEMPTS) continue;
    return { ...result, partsAt: { fromHeight: bucket * BUCKET, toHeight: (bucket + 1) * BUCKET - 1 } };
  }
}

async function committed(stores: Stores, chain: AuditedChain, stage: string): Promise<Limits> {
  const { rows } = await stores.postgres.pool.query<{ height: number; tick: bigint }>(
    `SELECT height, (SELECT coalesce(max(tick), 0) FROM price_ticks) AS tick
     FROM stage_positions WHERE stage = $1 AND chain = $2`,
    [stage, chain.name],
  );
  return { chain, height: rows[0]?.height ?? -1, tick: rows[0]?.tick ?? 0n };
}

async function digestPostgres(stores: Stores, rows: StoreRows, limits: Limits, stage: string): Promise<Digest[]> {
  const params = [limits.chain.name, limits.height, ...(stage === 'price' ? [limits.tick] : [])];
  const { rows: digests } = await stores.postgres.pool.query<Digest>(
    `SELECT bucket, count(*)::text AS rows, sum(('x' || left(md5(line), 15))::bit(60)::bigint)::text AS digest
     FROM (SELECT ${rows.height} / ${BUCKET} AS bucket, ${rows.line} AS line ${rows.from}) AS lines
     GROUP BY bucket ORDER BY bucket`,
    params,
  );
  return digests;
}

async function digestClickHouse(stores: Stores, rows: StoreRows, limits: Limits): Promise<Digest[]> {
  if (limits.height < 0) return [];
  return stores.clickhouse.query<Digest>(
    `SELECT toInt32(bucket) AS bucket, toString(count()) AS rows,
       toString(sum(toInt256(bitShiftRight(reinterpretAsUInt64(reverse(substring(MD5(line), 1, 8))), 4)))) AS digest
     FROM (SELECT intDiv(${rows.height}, ${BUCKET}) AS bucket, ${rows.line} AS line ${rows.from})
     GROUP BY bucket ORDER BY bucket`,
    {
      chain: limits.chain.name,
      height: limits.height,
      native: limits.chain.nativeCurrencyId,
      tick: limits.tick.toString(),
    },
  );
}

function firstDifference(postgres: readonly Digest[], clickhouse: readonly Digest[]): number | null {
  const other = new Map(clickhouse.map((row) => [row.bucket, row]));
  for (const row of postgres) {
    const twin = other.get(row.bucket);
    if (twin?.rows !== row.rows || twin.digest !== row.digest) return row.bucket;
    other.delete(row.bucket);
  }
  return other.size === 0 ? null : Math.min(...other.keys());
}
