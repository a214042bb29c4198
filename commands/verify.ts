/** `verify`: derives again from the log and compares with what is served. */
import { verify } from '../pipeline/verify/verify.ts';
import { nativeCurrencyId } from '../schemas/native-currency-id.ts';
import type { StoreContext } from './control-commands.ts';

const PROGRESS_MS = 5000;

/** Prints a line a table that differs, and the outcome; → 0 only when every digest is equal. */
export async function printVerify(
  { config, stores, log, logger }: StoreContext,
  print: (line: string) => void,
  signal: AbortSignal,
): Promise<number> {
  let printed = Date.now();
  const outcomes = verify({
    chains: config.chains.map((chain) => ({ chain, nativeCurrencyId: nativeCurrencyId(chain) })),
    log,
    served: stores,
    openFreshStores: () => stores.openBeside(),
    pricing: config,
    scratch: config.dataDir,
    logger,
    progress: (chain, { height, targetHeight, rate, etaSeconds }) => {
      if (Date.now() - printed < PROGRESS_MS) return;
      printed = Date.now();
      const eta = etaSeconds === null ? '' : `, about ${Math.ceil(etaSeconds)} s to go`;
      print(`${chain}  height ${height ?? '-'} of ${targetHeight ?? '-'}, ${rate.toFixed(0)} blocks/s${eta}`);
    },
    signal,
  });
  let tables = 0;
  let different = 0;
  for await (const { chain, table, height, equal, served, fresh } of outcomes) {
    tables++;
    if (equal) continue;
    different++;
    print(
      `${chain}  ${table} up to height ${height}: DIFFERENT, ${served.rows} rows served, ${fresh.rows} derived again`,
    );
  }
  print(
    different === 0
      ? `${tables} tables are what the log says.`
      : `${different} of ${tables} tables differ: rebuild the stores.`,
  );
  return different === 0 ? 0 : 1;
}
