/** `audit`: Postgres against ClickHouse. */
import { audit } from '../pipeline/audit/audit.ts';
import type { StoreContext } from './control-commands.ts';
import { nativeCurrencyId } from './native-currency-id.ts';

/** Prints a line a table; → 0 only when both stores hold the same. */
export async function printAudit(
  { config, stores }: StoreContext,
  print: (line: string) => void,
  signal: AbortSignal,
): Promise<number> {
  const chains = config.chains.map((chain) => ({ name: chain.name, nativeCurrencyId: nativeCurrencyId(chain) }));
  let different = 0;
  for await (const { chain, table, height, rows, partsAt } of audit(stores, chains)) {
    signal.throwIfAborted();
    const verdict = partsAt
      ? `DIFFERENT, first between heights ${partsAt.fromHeight} and ${partsAt.toHeight}`
      : 'equal';
    print(`${chain}  ${table}: ${rows} rows up to height ${height}: ${verdict}`);
    if (partsAt) different++;
  }
  print(
    different === 0
      ? 'Postgres and ClickHouse hold the same.'
      : `${different} tables differ: run \`verustream verify\`.`,
  );
  return different === 0 ? 0 : 1;
}
