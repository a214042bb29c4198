/** /api/oracle/conversions/:txid: the USD stamps of one transaction, with their reasons. */

import { explainStamp } from '../../../domain/explain-stamp.ts';
import { parseExact } from '../../../domain/json/exact-json.ts';
import { conversionStatus } from '../../../domain/transfers.ts';
import { hexParam } from '../../../infra/postgres/values.ts';
import type { RowRead } from '../../../infra/row-reader.ts';
import { readStampInputs } from '../../../infra/stored-json/stamp-inputs.ts';
import type { ApiContext } from '../../api-context.ts';
import { notFound } from '../../http/api-error.ts';
import { anyChainParameter, formatParameter, pathParameter, queryParameter } from '../../http/parameters.ts';
import { stateRoute } from '../../http/route.ts';
import { coins, coinsOrNull } from '../../http/values.ts';
import { writtenHash } from '../../schema/json-schema.ts';
import type { Currencies } from '../../state/currency-directory.ts';
import type { Snapshot } from '../../state/snapshot.ts';
import { conversionsSql, readStamped, stampAnswer } from './conversion-rows.ts';
import { conversionValuation } from './schema.ts';
import { amongConfigured } from './transfer-ends.ts';

type StampRecord = RowRead<typeof readStamped>;

const SQL = `${conversionsSql({ furtherColumns: ', s.inputs' })} AND t.chain = ANY($2) AND (t.txid = $3 OR t.import_txid = $3)
  ORDER BY t.chain, t.request_height, t.txid, t.vout`;

function valuation(api: ApiContext, read: Snapshot, row: StampRecord, currencies: Currencies, explain: boolean) {
  return {
    chainId: api.currencies.nativeId(api.chain(row.chain)),
    chain: row.chain,
    importChain: row.import_chain,
    txid: row.request_txid,
    vout: row.request_vout,
    status: conversionStatus(row.status),
    fromCurrencyId: row.from_currency_id,
    fromCurrencyName: currencies.name(row.from_currency_id),
    toCurrencyId: row.to_currency_id,
    toCurrencyName: currencies.name(row.to_currency_id),
    amountIn: coins(row.amount_in),
    amountOut: coinsOrNull(row.amount_out),
    ...stampAnswer(row, read),
    ...(explain && explanation(row.inputs, currencies)),
  };
}

/** Inputs of the stamp and each step from them to its numbers; both null without a stamp. */
function explanation(inputs: string | null, currencies: Currencies) {
  if (inputs === null) return { inputs: null, steps: null };
  const steps = explainStamp(readStampInputs(inputs)).map(
    ({ step, currencyId, basketId, expression, value, uses }) => ({
      step,
      currencyId,
      currencyName: currencies.name(currencyId),
      basketId,
      basketName: currencies.name(basketId),
      expression,
      value,
      uses,
    }),
  );
  return { inputs: parseExact(inputs), steps };
}

const byTxid = stateRoute({
  path: '/api/oracle/conversions/:txid',
  summary: 'USD value of the conversions that a transaction requested or settled',
  parameters: {
    txid: pathParameter('Transaction id of the request or of the import', writtenHash),
    chain: anyChainParameter,
    explain: queryParameter('Include the inputs of each stamp and the steps from them to its numbers', {
      type: 'boolean',
      default: false,
    }),
    ...formatParameter,
  },
  response: conversionValuation,
  rows: { member: 'data' },
  weight: 2,
  cache: 'state',
  scope: 'all',
  async handler({ params, read, api }) {
    const txid = params.txid.toLowerCase();
    const chains = params.chain === undefined ? api.config.chains.map(({ name }) => name) : [params.chain];
    const rows = await read.rows(readStamped, amongConfigured(read.state, SQL), [
      read.state.generation,
      chains,
      hexParam(txid),
    ]);
    if (rows.length === 0) throw notFound(`a conversion of transaction ${txid}`);
    const currencies = await api.currencies.of(read);
    const data = rows.map((row) => valuation(api, read, row, currencies, params.explain));
    return { txid, count: data.length, data };
  },
});

export const oracleConversionRoutes = [byTxid];
