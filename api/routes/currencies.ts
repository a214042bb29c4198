/** /api/currency */
import { parseExact } from '../../schemas/exact-json.ts';
import { currencyDetail } from '../../schemas/rest/currencies.ts';
import type { ApiContext } from '../api-context.ts';
import { notFound } from '../http/api-error.ts';
import { chainParameter, pathParameter } from '../http/parameters.ts';
import { stateRoute } from '../http/route.ts';
import { coinsOrNull, decimalOrNull } from '../http/values.ts';
import type { Currencies, CurrencyEntry } from '../state/currency-directory.ts';
import { issuedSupply } from '../state/supply.ts';
import { tipHeight } from './blocks.ts';
import { camelCaseDefinition } from './definition-names.ts';
import { latestPrices } from './price-rows.ts';

interface DefinitionRecord {
  readonly definition: string;
  readonly txid: string;
  readonly vout: number;
  readonly from_height: number;
}

const DEFINITION_SQL = `SELECT definition, txid, vout, from_height FROM currencies
  WHERE chain = $1 AND currency_id = $2 AND to_height IS NULL`;
const SUPPLY_SQL = `SELECT supply FROM currency_states WHERE chain = $1 AND currency_id = $2 AND to_height IS NULL`;

/** Name, i-address, or the name of a bridged currency without its suffix. @throws ApiError not_found */
export function findCurrency(currencies: Currencies, api: ApiContext, chain: string, text: string): CurrencyEntry {
  const entry = currencies.find(text, api.chain(chain));
  if (!entry) throw notFound(`currency ${JSON.stringify(text)}`);
  return entry;
}

function namesOf(ids: unknown, currencies: Currencies): Record<string, string | null> {
  if (!Array.isArray(ids)) return {};
  return Object.fromEntries(ids.map((id) => [String(id), currencies.name(String(id))]));
}

const detail = stateRoute({
  path: '/api/currency/:nameOrId',
  summary: 'Definition, supply and price of a currency',
  parameters: {
    nameOrId: pathParameter('i-address, qualified name, or name', { type: 'string', minLength: 1, maxLength: 500 }),
    chain: chainParameter,
  },
  response: currencyDetail,
  weight: 2,
  tier: null,
  cache: 'state',
  scope: 'all',
  async handler({ params, read, api }) {
    tipHeight(read, params.chain);
    const currencies = await api.currencies.of(read);
    const entry = findCurrency(currencies, api, params.chain, params.nameOrId);
    const row = await read.row<DefinitionRecord>(DEFINITION_SQL, [entry.chain, entry.currencyId]);
    const state = await read.row<{ supply: bigint }>(SUPPLY_SQL, [entry.chain, entry.currencyId]);
    const [price] = await latestPrices(read, api, [entry.currencyId]);
    const chain = api.chain(entry.chain);
    const tip = read.state.derived.get(entry.chain)?.height ?? 0;
    const issued = await issuedSupply(read, api, chain.name, tip);
    // A chain's own coin is never defined on it, so its daemon is asked.
    return async () => {
      const definition = row ? parseExact(row.definition) : await api.natives.definition(chain);
      const members = camelCaseDefinition(definition as Readonly<Record<string, unknown>>);
      const parent = typeof members.parent === 'string' ? members.parent : null;
      const supply = entry.type === 'native' ? await issued() : (state?.supply ?? null);
      return {
        ...members,
        fullyQualifiedName: entry.fullyQualifiedName,
        chain: entry.chain,
        type: entry.type,
        parent,
        parentName: currencies.name(parent),
        currencyNames: namesOf(members.currencies, currencies),
        definitionTxid: row?.txid ?? members.definitionTxid ?? null,
        definitionTxOut: row?.vout ?? members.definitionTxOut ?? null,
        definitionHeight: row?.from_height ?? null,
        supply: coinsOrNull(supply),
        price: decimalOrNull(price?.usd_price ?? null),
      };
    };
  },
});

export const currencyRoutes = [detail];
