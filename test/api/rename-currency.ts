import { expect } from 'vitest';
import type { RunningService } from './running-service.ts';

/** In the store alone, to be seen with the next block; its i-address stays, so that hashing its new name finds nothing. */
export async function renameCurrency(
  { stores }: Pick<RunningService, 'stores'>,
  currencyId: string,
  fullyQualifiedName: string,
): Promise<void> {
  const sql = 'UPDATE currencies SET name = $2, fully_qualified_name = $3 WHERE currency_id = $1';
  const [name] = fullyQualifiedName.split('.');
  expect((await stores.postgres.pool.query(sql, [currencyId, name, fullyQualifiedName])).rowCount).toBeGreaterThan(0);
}
