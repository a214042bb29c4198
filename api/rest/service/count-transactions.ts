import { columns, rowReader } from '../../../infra/row-reader.ts';
import type { ApiContext } from '../../api-context.ts';
import type { ServiceState } from '../../state/service-state.ts';

const readTotal = rowReader({ total: columns.text });

/** Counts the transactions of chains in a state: ClickHouse may already contain a batch that Postgres has not committed. */
export async function countTransactions(
  { clickhouse }: Pick<ApiContext, 'clickhouse'>,
  chains: readonly string[],
  { derived }: Pick<ServiceState, 'derived'>,
): Promise<number> {
  const committed = chains.flatMap((chain) => {
    const position = derived.get(chain)?.position;
    return position === undefined ? [] : [[chain, position] as const];
  });
  if (committed.length === 0) return 0;
  const blocks = committed.map((_, i) => `(chain = {chain${i}: String} AND position <= {position${i}: UInt64})`);
  const params = committed.flatMap(([chain, position], i) => [
    [`chain${i}`, chain],
    [`position${i}`, position],
  ]);
  const sql = `SELECT sum(tx_count) AS total FROM blocks WHERE ${blocks.join(' OR ')}`;
  const [row] = await clickhouse.rows(readTotal, sql, Object.fromEntries(params));
  return Number(row?.total ?? 0);
}
