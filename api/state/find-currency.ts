/** Resolves a name or an i-address in a request to a currency. */
import { isIdentityAddress, looksLikeIdentityAddress } from '../../domain/addresses.ts';
import type { ApiContext } from '../api-context.ts';
import { ApiError, notFound, parameterError } from '../http/api-error.ts';
import type { Currencies, CurrencyEntry } from './currency-directory.ts';
import { nameAddress } from './name-address.ts';
import { nearNames } from './near-names.ts';

/**
 * Finds a currency by name, i-address, or the name of a bridged currency without its suffix. `parameter`: name of the input, for the error.
 * @throws ApiError not_found with similar names, invalid_parameter for a text that is neither a name nor an i-address
 */
export function findCurrency(
  currencies: Currencies,
  api: ApiContext,
  chain: string,
  text: string,
  parameter: string,
): CurrencyEntry {
  const entry = currencies.find(text, api.chain(chain));
  if (entry) return entry;
  const isAddress = isIdentityAddress(text);
  if (!isAddress && (looksLikeIdentityAddress(text) || !canBeName(api, text))) {
    const detail = `${JSON.stringify(text)} is neither an i-address (its checksum would have to fit) nor a name`;
    throw parameterError(parameter, detail);
  }
  const suggestions = isAddress ? [] : nearNames(text, currencies.all());
  const hint = suggestions.length > 0 ? `: did you mean ${suggestions.join(' or ')}?` : '';
  throw new ApiError('not_found', `currency ${JSON.stringify(text)} is not known${hint}`, { members: { suggestions } });
}

/** Like findCurrency, for baskets only. */
export function findBasket(
  currencies: Currencies,
  api: ApiContext,
  chain: string,
  text: string,
  parameter = 'id',
): CurrencyEntry {
  const entry = findCurrency(currencies, api, chain, text, parameter);
  if (entry.type !== 'basket') throw notFound(`a basket named ${JSON.stringify(text)}`);
  return entry;
}

function canBeName(api: ApiContext, text: string): boolean {
  return api.config.chains.some(({ networkRoot }) => nameAddress(text, networkRoot) !== null);
}
