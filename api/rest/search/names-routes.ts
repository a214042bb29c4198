/** /api/names: names of i-addresses. */
import { isIdentityAddress } from '../../../domain/addresses.ts';
import { parameterError } from '../../http/api-error.ts';
import { requiredQuery } from '../../http/parameters.ts';
import { stateRoute } from '../../http/route.ts';
import { identityNames } from '../../state/identity-names.ts';
import { nameList } from './explorer-schema.ts';
import { kindOf } from './found.ts';

const MOST_IDS = 100;
/** An i-address has at most 35 characters. */
const LONGEST = MOST_IDS * 36;

/** @throws ApiError invalid_parameter for too many ids, or for the first one that is not an i-address */
function readIds(text: string): string[] {
  const ids = text.split(',');
  const wrong = ids.find((id) => !isIdentityAddress(id));
  if (ids.length <= MOST_IDS && wrong === undefined) return [...new Set(ids)];
  const detail =
    wrong === undefined
      ? `ids has ${ids.length} i-addresses, at most ${MOST_IDS} are allowed`
      : `${JSON.stringify(wrong)} in ids is not an i-address: ids are i-addresses, separated by commas`;
  throw parameterError('ids', detail);
}

const IDENTITY = 'identity' as const;
const UNKNOWN = { name: null, kind: null, chain: null };

const names = stateRoute({
  path: '/api/names',
  summary: 'Names of i-addresses: currencies and identities of all chains',
  parameters: {
    ids: requiredQuery(`At most ${MOST_IDS} i-addresses, separated by commas; duplicates are answered once`, {
      type: 'string',
      minLength: 1,
      maxLength: LONGEST,
    }),
  },
  response: nameList,
  weight: 1,
  cache: 'state',
  scope: 'all',
  async handler({ params, read, api }) {
    const ids = readIds(params.ids);
    const currencies = await api.currencies.of(read);
    const chains = api.config.chains.map(({ name }) => name);
    const others = ids.filter((id) => currencies.get(id) === undefined);
    const identities = await identityNames(read, chains, others);
    const results = ids.map((id) => {
      const currency = currencies.get(id);
      if (currency) return { id, name: currency.fullyQualifiedName, kind: kindOf(currency), chain: currency.chain };
      const identity = identities.get(id);
      return identity ? { id, name: identity.name, kind: IDENTITY, chain: identity.chain } : { id, ...UNKNOWN };
    });
    return { results };
  },
});

export const nameRoutes = [names];
