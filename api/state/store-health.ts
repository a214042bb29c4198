/** Whether the stores answer, asked anew; a store that does not answer in time counts as unreachable. */
import type { Stores } from '../../infra/stores.ts';

const TIMEOUT_MS = 2_000;

/** One sentence a store that does not answer. */
export async function askStores({ postgres, clickhouse }: Pick<Stores, 'postgres' | 'clickhouse'>): Promise<string[]> {
  const faults = await Promise.all([
    faultOf('Postgres', postgres.pool.query('SELECT 1')),
    faultOf('ClickHouse', clickhouse.query('SELECT 1')),
  ]);
  return faults.filter((fault) => fault !== null);
}

async function faultOf(store: string, answer: Promise<unknown>): Promise<string | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve(`${store} did not answer within ${TIMEOUT_MS / 1000} s`), TIMEOUT_MS);
  });
  const answered = answer.then(
    () => null,
    (error: unknown) => `${store} does not answer: ${error instanceof Error ? error.message : String(error)}`,
  );
  return Promise.race([answered, late]).finally(() => clearTimeout(timer));
}
