/** What the configuration says of prices. */
import { adviceOn, mixedGenerations } from '../pipeline/price/kept-rules.ts';
import type { PriceChain } from '../pipeline/price/price-chain.ts';
import { pricingRules } from '../pipeline/price/run-price.ts';
import type { Config } from '../schemas/config.ts';
import { nativeCurrencyId } from '../schemas/native-currency-id.ts';
import type { StoreContext } from './command.ts';

export function pricedChains({ chains }: Pick<Config, 'chains'>): PriceChain[] {
  return chains.map((chain) => ({ ...chain, nativeCurrencyId: nativeCurrencyId(chain) }));
}

/** A line for each generation of which not all rows were folded under the configured rules. */
export async function pricingWarnings({ config, stores }: Pick<StoreContext, 'config' | 'stores'>): Promise<string[]> {
  const rules = pricingRules(pricedChains(config), config);
  return (await mixedGenerations(stores.postgres.pool, rules)).map(adviceOn);
}
