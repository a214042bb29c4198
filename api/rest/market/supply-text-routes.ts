/** /api/tickers/supply/:currency: one number as plain text, the format that listing sites read. */
import { satoshisToCoins } from '../../../domain/satoshi.ts';
import { ApiError } from '../../http/api-error.ts';
import { chainParameter, pathParameter } from '../../http/parameters.ts';
import { liveRoute } from '../../http/route.ts';
import { writtenName } from '../../schema/json-schema.ts';
import { currencyAt, supplyThen } from '../currencies/currency-at.ts';

const TEXT = 'text/plain; charset=utf-8';

const supply = liveRoute({
  path: '/api/tickers/supply/:currency',
  summary: 'Supply of a currency as plain text for listing sites; the circulating supply is the same number',
  parameters: { currency: pathParameter('i-address, qualified name, or name', writtenName), chain: chainParameter },
  response: { type: 'string', description: 'Coins with 8 decimals' },
  produces: TEXT,
  errors: ['daemon_error'],
  weight: 2,
  cache: 'none',
  async handler({ params: { currency, chain }, api }) {
    const { name, ask } = await api.snapshot(async (read) => {
      const at = await currencyAt({ params: { nameOrId: currency, chain }, read, api }, 'currency');
      const then = await supplyThen(read, api, at);
      return { name: at.entry.fullyQualifiedName, ask: then.supply };
    });
    const known = await ask();
    if (known === null) throw new ApiError('not_found', `the supply of ${name} is not known`);
    return { contentType: TEXT, body: satoshisToCoins(known) };
  },
});

export const supplyTextRoutes = [supply];
