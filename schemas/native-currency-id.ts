/** i-address of a chain's native currency, hashed from its name and the root of its network. */
import { nameToAddress } from '../domain/names.ts';
import type { ChainConfig } from './config.ts';
import { PermanentError } from './errors.ts';

export type NamedChain = Pick<ChainConfig, 'name' | 'rootCurrency' | 'networkRoot'>;

/** @throws PermanentError config_invalid when one of the two cannot be a name */
export function nativeCurrencyId({ name, rootCurrency, networkRoot }: NamedChain): string {
  const id = nameToAddress(rootCurrency, networkRoot);
  if (id !== null) return id;
  const message = `chains: rootCurrency "${rootCurrency}" below networkRoot "${networkRoot}" of ${name} is not a name`;
  throw new PermanentError('config_invalid', message);
}
