/** The parts of the configuration that prices depend on. */
import { rulesWarning } from '../pipeline/price/kept-rules.ts';
import type { PriceChain } from '../pipeline/price/price-chain.ts';
import { foldedRulesOf } from '../pipeline/price/run-price.ts';
import type { Config } from '../schemas/config.ts';
import { nativeCurrencyId } from '../schemas/native-currency-id.ts';
import type { PostgresContext } from './command.ts';

export function pricedChains({ chains }: Pick<Config, 'chains'>): PriceChain[] {
  return chains.map((chain) => ({ ...chain, nativeCurrencyId: nativeCurrencyId(chain) }));
}

/** Returns a warning if served prices were folded under other rules than the configured ones. */
export async function pricingWarnings({
  config,
  stores,
}: Pick<PostgresContext, 'config' | 'stores'>): Promise<string[]> {
  const warning = await rulesWarning(stores.postgres.pool, foldedRulesOf(pricedChains(config), config));
  return warning === null ? [] : [warning];
}
