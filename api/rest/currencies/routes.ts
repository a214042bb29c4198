/** /api/currency */

import { parseExact } from '../../../domain/json/exact-json.ts';
import type { StoredRow } from '../../../infra/row-reader.ts';
import { columns, rowReader } from '../../../infra/row-reader.ts';
import { chainParameter, pathParameter } from '../../http/parameters.ts';
import { stateRoute } from '../../http/route.ts';
import { coinsOrNull, decimalOrNull } from '../../http/values.ts';
import { writtenName } from '../../schema/json-schema.ts';
import type { Currencies } from '../../state/currency-directory.ts';
import { findCurrency } from '../../state/find-currency.ts';
import { issuedSupply, withSupply } from '../../state/supply.ts';
import { tipHeight } from '../../state/tip-height.ts';
import { LATEST_USD_SQL } from '../prices/price-rows.ts';
import { camelCaseDefinition } from './definition-names.ts';
import { LAUNCH, LAUNCH_STATE_SQL, launchAnswer } from './launch.ts';
import { currencyDetail } from './schema.ts';

/** For a chain's own coin, which is not defined on it, every column but the price is null. */
const readCurrency = rowReader({
  definition: columns.nullable(columns.text),
  txid: columns.nullable(columns.text),
  vout: columns.nullable(columns.number),
  from_height: columns.nullable(columns.number),
  ...LAUNCH,
  supply: columns.nullable(columns.bigint),
  usd_price: columns.nullable(columns.text),
});

/** A currency of the chain $3, whose own coin is $4; $1 and $2 are the values of LATEST_USD_SQL. */
const DETAIL_SQL = `SELECT c.definition, c.txid, c.vout, c.from_height, c.start_block, state.supply, state.flags,
    (${LAUNCH_STATE_SQL}) AS launch_state, price.usd_price
  FROM (SELECT $2::text AS id) AS wanted
  LEFT JOIN currencies c ON c.chain = $3 AND c.currency_id = wanted.id AND c.to_height IS NULL
  LEFT JOIN currency_states state ON state.chain = $3 AND state.currency_id = wanted.id AND state.to_height IS NULL
  LEFT JOIN (${LATEST_USD_SQL}) AS price ON true`;

/** Members of the daemon's definition that the answer copies. */
const readDefinition = rowReader({
  currencyId: columns.text,
  name: columns.text,
  options: columns.number,
  systemId: columns.text,
  parent: columns.optional(columns.text),
  definitionTxid: columns.optional(columns.text),
  definitionTxOut: columns.optional(columns.number),
  currencies: columns.optional(columns.texts),
});

function namesOf(ids: readonly string[], currencies: Currencies): Record<string, string | null> {
  return Object.fromEntries(ids.map((id) => [id, currencies.name(id)]));
}

const detail = stateRoute({
  path: '/api/currency/:nameOrId',
  summary: 'Definition, supply and price of a currency',
  parameters: {
    nameOrId: pathParameter('i-address, qualified name, or name', writtenName),
    chain: chainParameter,
  },
  response: currencyDetail,
  errors: ['daemon_error'],
  weight: 2,
  cache: 'state',
  scope: 'all',
  async handler({ params, read, api }) {
    tipHeight(read, params.chain);
    const currencies = await api.currencies.of(read);
    const entry = findCurrency(currencies, api, params.chain, params.nameOrId, 'nameOrId');
    const chain = api.chain(entry.chain);
    const values = [read.state.generation, entry.currencyId, chain.name, api.currencies.nativeId(chain)];
    const row = await read.row(readCurrency, DETAIL_SQL, values);
    const tip = read.state.derived.get(chain.name)?.height ?? 0;
    const issued =
      entry.type === 'native' ? await issuedSupply(read, api, chain.name, tip) : async () => row?.supply ?? null;
    return () =>
      withSupply(issued, async (supply) => {
        const stored = row?.definition ?? null;
        const definition = stored === null ? await api.natives.definition(chain) : parseExact(stored);
        const members = readDefinition(camelCaseDefinition(definition as StoredRow));
        const parent = members.parent ?? null;
        return {
          ...members,
          fullyQualifiedName: entry.fullyQualifiedName,
          chain: entry.chain,
          type: entry.type,
          parent,
          parentName: currencies.name(parent),
          currencyNames: namesOf(members.currencies ?? [], currencies),
          definitionTxid: row?.txid ?? members.definitionTxid ?? null,
          definitionTxOut: row?.vout ?? members.definitionTxOut ?? null,
          definitionHeight: row?.from_height ?? null,
          supply: coinsOrNull(supply),
          price: decimalOrNull(row?.usd_price ?? null),
          launch: row && stored !== null ? launchAnswer(row, definition, tip, currencies) : null,
        };
      });
  },
});

export const currencyRoutes = [detail];
