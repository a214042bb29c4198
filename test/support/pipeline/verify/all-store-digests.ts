import type { Stores } from '../../../../infra/stores.ts';
import { DERIVE_TABLES, PRICE_TABLES } from '../../../../pipeline/verify/digest-tables.ts';
import { clickhouseDigests, type Digests, postgresDigests } from '../../../../pipeline/verify/store-digests.ts';

/**
 * Digests of every derived table of both stores: `postgres.blocks`, `clickhouse.blocks` … With `chain`, its name is not part of them,
 * so that two chains with the same blocks have equal digests.
 */
export async function storeDigests(stores: Pick<Stores, 'postgres' | 'clickhouse'>, chain?: string): Promise<Digests> {
  const tables = [...DERIVE_TABLES, ...PRICE_TABLES];
  const only = chain ? { chain } : {};
  const postgres = await postgresDigests(stores.postgres.pool, tables, only);
  return { ...postgres, ...(await clickhouseDigests(stores.clickhouse, tables, only)) };
}
