/** `verify`: derives everything again from the log and compares the result with the served stores. */
import { type VerifiedTable, verify } from '../pipeline/verify/verify.ts';
import { nativeCurrencyId } from '../schemas/native-currency-id.ts';
import type { CommandOutcome, Output, StoreContext } from './command.ts';
import { createDigestLines, createProgressLine } from './progress-line.ts';
import { allCompared } from './uncompared.ts';

/** Prints a line for each table that differs, and the outcome; exit code 0 only if every digest of every chain is equal. */
export async function run(
  { config, stores, log, logger, signal }: StoreContext,
  _input: object,
  output: Output,
): Promise<CommandOutcome> {
  const show = createProgressLine(output.progress);
  const digests = createDigestLines(output.progress);
  const outcomes = verify({
    chains: config.chains.map((chain) => ({ chain, nativeCurrencyId: nativeCurrencyId(chain) })),
    log,
    served: stores,
    openFreshStores: () => stores.openScratch(),
    pricing: config,
    scratch: config.dataDir,
    logger,
    progress: (...shown) => {
      digests.end();
      show(...shown);
    },
    priceProgress: ({ tick, lastTick, rate, etaSeconds }) => {
      digests.end();
      show('prices', { height: tick, targetHeight: lastTick, rate, etaSeconds }, 'tick');
    },
    digestProgress: digests.begin,
    signal,
  });
  const tables: VerifiedTable[] = [];
  try {
    for await (const table of outcomes) {
      tables.push(table);
      if (!table.equal) output.line(described(table));
    }
  } finally {
    digests.close();
  }
  const different = tables.filter(({ equal }) => !equal).length;
  output.line(
    different === 0
      ? `${tables.length} tables match the log.`
      : `${different} of ${tables.length} tables differ: rebuild the stores.`,
  );
  const compared = (name: string) => tables.some(({ chain }) => chain === name);
  const ok = allCompared(config.chains, compared, output.line) && different === 0;
  return { exitCode: ok ? 0 : 1, state: { ok, tables } };
}

function described({ chain, table, height, served, fresh }: VerifiedTable): string {
  return `${chain}  ${table} up to height ${height}: DIFFERENT, ${served.rows} rows served, ${fresh.rows} derived again`;
}
