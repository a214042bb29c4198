/** i-address of a chain's native currency: a hash of its name, below the chain that launched it. */
import { MAIN_CHAINS } from '../infra/config/chain-defaults.ts';
import { nameToAddress } from '../processors/names.ts';
import type { ChainConfig } from '../schemas/config.ts';
import { PermanentError } from '../schemas/errors.ts';

/** The first of the main chains launched the others; any other chain stands for itself. */
const [ROOT] = MAIN_CHAINS;

export function nativeCurrencyId({ name, rootCurrency }: Pick<ChainConfig, 'name' | 'rootCurrency'>): string {
  const launched = MAIN_CHAINS.some((main) => main !== ROOT && main.rootCurrency === rootCurrency);
  const id = nameToAddress(launched ? `${rootCurrency}.${ROOT?.rootCurrency}.` : rootCurrency, rootCurrency);
  if (id !== null) return id;
  throw new PermanentError('config_invalid', `chains: the rootCurrency "${rootCurrency}" of ${name} is not a name`);
}
