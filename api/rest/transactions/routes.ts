/** /api/tx */

import { finalizedHeight } from '../../../domain/finality.ts';
import { parseShallow } from '../../../domain/json/shallow-json.ts';
import { storedColumns } from '../../../infra/postgres/stored-columns.ts';
import { hexParam } from '../../../infra/postgres/values.ts';
import { columns, jsonReader, rowReader } from '../../../infra/row-reader.ts';
import { readAmounts } from '../../../infra/stored-json/amounts.ts';
import { DEFINITIONS, type TransactionType } from '../../../schemas/facts.ts';
import type { ApiContext } from '../../api-context.ts';
import { notFound } from '../../http/api-error.ts';
import { chainParameter, pathParameter } from '../../http/parameters.ts';
import { stateRoute } from '../../http/route.ts';
import { coins, coinsOrNull } from '../../http/values.ts';
import type { WaitingTransaction } from '../../mempool/journal.ts';
import { askedMempool, mempoolTag, unconfirmedParameter } from '../../mempool/unconfirmed-part.ts';
import { writtenHash } from '../../schema/json-schema.ts';
import { inTurns } from '../../state/in-turns.ts';
import type { Snapshot } from '../../state/snapshot.ts';
import { tipHeight } from '../../state/tip-height.ts';
import { conversionAnswer, conversionsSql, readConversion } from '../conversions/conversion-rows.ts';
import { amongConfigured } from '../conversions/transfer-ends.ts';
import { pricesAtBlocks } from '../prices/prices-at-blocks.ts';
import { pricesAnswer, usdParameter } from '../prices/worth-then.ts';
import { amounts } from './amounts.ts';
import { transactionDetail } from './schema.ts';
import { waitingDetail } from './waiting-detail.ts';

const readTransaction = rowReader({
  height: columns.number,
  ...storedColumns(DEFINITIONS.transaction, [
    'txid',
    'txIndex',
    'kind',
    'kinds',
    'fee',
    'size',
    'lockTime',
    'expiryHeight',
  ]),
  ...storedColumns(DEFINITIONS.block, ['hash', 'time']),
  /** JSON texts; null when there are no inputs or no outputs. */
  inputs: columns.nullable(columns.text),
  outputs: columns.nullable(columns.text),
});

const COIN = {
  n: columns.number,
  /** Satoshis. */
  value: columns.text,
  currencies: columns.nullable(columns.text),
  addresses: columns.texts,
};
const readInputs = jsonReader(columns.list(columns.object({ ...COIN, txid: columns.text })));
const readOutputs = jsonReader(
  columns.list(
    columns.object({
      ...COIN,
      kind: columns.text,
      data: columns.nullable(columns.text),
      spent_txid: columns.nullable(columns.text),
    }),
  ),
);

const COIN_COLUMNS = 'n, value::text, currencies::text, addresses';
const DETAIL_SQL = `SELECT t.txid, t.height, t.tx_index, t.kind, t.kinds, t.fee, t.size, t.lock_time, t.expiry_height, b.hash, b.time,
    (SELECT json_agg(input) FROM (SELECT encode(txid, 'hex') AS txid, ${COIN_COLUMNS} FROM outputs
      WHERE chain = $1 AND to_height = t.height AND spent_txid = $2 ORDER BY spent_index) AS input) AS inputs,
    (SELECT json_agg(output) FROM (SELECT ${COIN_COLUMNS}, kind, data::text, encode(spent_txid, 'hex') AS spent_txid FROM outputs
      WHERE chain = $1 AND txid = $2 ORDER BY n) AS output) AS outputs
  FROM transactions t JOIN blocks b ON b.chain = t.chain AND b.height = t.height WHERE t.chain = $1 AND t.txid = $2`;
const CONVERSIONS_SQL = `${conversionsSql()} AND t.chain = $2 AND (t.txid = $3 OR t.import_txid = $3)
  ORDER BY t.request_height, t.txid, t.vout`;

/** Transactions of any other type neither request conversions nor execute them. */
const CONVERTING: ReadonlySet<TransactionType> = new Set(['conversion', 'preconversion', 'burn', 'mint', 'import']);

const detail = stateRoute({
  path: '/api/tx/:txid',
  summary: 'A transaction with its inputs, outputs and conversions',
  parameters: {
    txid: pathParameter('Transaction id', writtenHash),
    chain: chainParameter,
    unconfirmed: unconfirmedParameter,
    usd: usdParameter,
  },
  response: transactionDetail,
  weight: 2,
  cache: 'state',
  scope: 'all',
  extraTag: mempoolTag,
  async handler({ params, read, api }) {
    const { chain } = params;
    const known = askedMempool({ params, api })?.find(params.txid.toLowerCase());
    const waiting = known?.goneWith === null ? known : null;
    const tip = tipHeight(read, chain);
    const key = [chain, hexParam(params.txid.toLowerCase())];
    const transaction = await read.row(readTransaction, DETAIL_SQL, key);
    const currencies = await api.currencies.of(read);
    const final = finalizedHeight(tip, api.chain(chain).finalityDepth);
    if (!transaction && waiting) return waitingDetail(waiting, chain, final, currencies);
    if (!transaction) throw notFound(`transaction ${params.txid} of ${chain}${known ? whyGone(known) : ''}`);
    const inputs = readInputs(transaction.inputs ?? '[]');
    const outputs = readOutputs(transaction.outputs ?? '[]');
    const converts = transaction.kinds.some((kind) => CONVERTING.has(kind));
    const asked = [read.state.generation, ...key];
    const conversions = converts
      ? await read.rows(readConversion, amongConfigured(read.state, CONVERSIONS_SQL), asked)
      : [];
    const moved = params.usd
      ? await movedPrices(read, api, { chain, height: transaction.height, coins: [...inputs, ...outputs] })
      : {};
    return {
      chain,
      txid: transaction.txid,
      height: transaction.height,
      blockHash: transaction.hash,
      time: Number(transaction.time),
      confirmations: tip - transaction.height + 1,
      finalizedHeight: final,
      type: transaction.kind,
      types: transaction.kinds,
      isCoinbase: transaction.tx_index === 0,
      fee: coinsOrNull(transaction.fee),
      size: transaction.size,
      lockTime: Number(transaction.lock_time),
      expiryHeight: transaction.expiry_height,
      inputs: await inTurns(inputs, (input) => ({
        txid: input.txid,
        vout: input.n,
        addresses: input.addresses,
        value: coins(BigInt(input.value)),
        currencies: amounts(input.currencies, currencies),
      })),
      outputs: await inTurns(outputs, (output) => ({
        n: output.n,
        value: coins(BigInt(output.value)),
        addresses: output.addresses,
        kind: output.kind,
        currencies: amounts(output.currencies, currencies),
        spentTxid: output.spent_txid,
        data: output.data === null ? null : parseShallow(output.data),
      })),
      conversions: conversions.map((row) => conversionAnswer(row, read, currencies)),
      ...(params.unconfirmed && { unconfirmed: null }),
      ...moved,
    };
  },
});

interface Moved {
  readonly chain: string;
  readonly height: number;
  readonly coins: readonly { readonly currencies: string | null }[];
}

/** Price of each currency of the inputs and outputs at the end of the block. */
async function movedPrices(read: Snapshot, api: ApiContext, { chain, height, coins: moved }: Moved) {
  const tokens = moved.flatMap((coin) => Object.keys(readAmounts(coin.currencies ?? '{}')));
  const ids = [...new Set([api.currencies.nativeId(api.chain(chain)), ...tokens])];
  const priceAt = await pricesAtBlocks(read, api, chain, { heights: [height], ids });
  return { usdPrices: pricesAnswer(ids, height, priceAt, await api.currencies.of(read)) };
}

function whyGone({ outcome }: WaitingTransaction): string {
  return outcome === null
    ? ''
    : `, which is no longer in the mempool (${outcome.reason}${'txid' in outcome ? ` by ${outcome.txid}` : ''})`;
}

export const transactionRoutes = [detail];
