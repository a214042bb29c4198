import { expect } from 'vitest';
import type { RunningService } from './running-service.ts';

/** Renames a currency in the store only, visible with the next block; its i-address stays, so hashing its new name does not find it. */
export async function renameCurrency(
  { stores }: Pick<RunningService, 'stores'>,
  currencyId: string,
  fullyQualifiedName: string,
): Promise<void> {
  const sql = 'UPDATE currencies SET name = $2, fully_qualified_name = $3 WHERE currency_id = $1';
  const [name] = fullyQualifiedName.split('.');
  expect((await stores.postgres.pool.query(sql, [currencyId, name, fullyQualifiedName])).rowCount).toBeGreaterThan(0);
}
