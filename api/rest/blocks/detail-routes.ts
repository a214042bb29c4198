/** /api/blocks/:height, by height or hash: a block of the chain, or one that a reorganisation removed. */
import { finalizedHeight } from '../../../domain/finality.ts';
import { WRITTEN_HASH } from '../../../domain/hashes.ts';
import { storedColumns } from '../../../infra/postgres/stored-columns.ts';
import { hexParam } from '../../../infra/postgres/values.ts';
import { columns, jsonReader, type RowRead, rowReader } from '../../../infra/row-reader.ts';
import { DEFINITIONS, TRANSACTION_TYPES } from '../../../schemas/facts.ts';
import { notFound, parameterError } from '../../http/api-error.ts';
import { chainParameter, pathParameter } from '../../http/parameters.ts';
import { stateRoute } from '../../http/route.ts';
import { coins, coinsOrNull } from '../../http/values.ts';
import { writtenHeight } from '../../schema/json-schema.ts';
import type { Currencies } from '../../state/currency-directory.ts';
import { tipHeight } from '../../state/tip-height.ts';
import { amounts } from '../transactions/amounts.ts';
import { BLOCK, blockAnswer } from './block-rows.ts';
import { REORG, REORG_COLUMNS, reorgAnswer } from './reorg-rows.ts';
import { blockDetail } from './schema.ts';

const WHOLE_BLOCK = {
  ...BLOCK,
  ...storedColumns(DEFINITIONS.block, [
    'previousHash',
    'merkleRoot',
    'chainWork',
    'chainStake',
    'bits',
    'nonce',
    'version',
    'fees',
    'feePool',
  ]),
};
const STANDING = {
  ...WHOLE_BLOCK,
  next_hash: columns.nullable(columns.text),
  /** JSON text: the block's transactions in order; null when none is decoded. */
  transactions: columns.nullable(columns.text),
};
const readStanding = rowReader(STANDING);
/** A removed block with the rewind that removed it and the block now at its height, if any. */
const readRemoved = rowReader({
  ...STANDING,
  ...REORG,
  new_hash: columns.nullable(columns.text),
  new_time: columns.nullable(columns.bigint),
});

const readTransactions = jsonReader(
  columns.list(
    columns.object({
      txid: columns.text,
      type: columns.choice(TRANSACTION_TYPES),
      /** Satoshis, as is the value. */
      fee: columns.nullable(columns.text),
      size: columns.number,
      value: columns.text,
      /** JSON text. */
      currencies: columns.nullable(columns.text),
    }),
  ),
);

const COLUMNS = Object.keys(WHOLE_BLOCK).join(', ');
const STANDING_SQL = `SELECT ${COLUMNS}, transactions_of_block(chain, height) AS transactions,
    (SELECT hash FROM blocks WHERE chain = $1 AND height = b.height + 1) AS next_hash
  FROM blocks b WHERE chain = $1`;
const REMOVED_SQL = `SELECT b.*, ${REORG_COLUMNS},
    standing.hash AS new_hash, standing.time AS new_time,
    (SELECT hash FROM removed_blocks WHERE chain = $1 AND removed_at = b.removed_at AND height = b.height + 1) AS next_hash
  FROM (SELECT ${COLUMNS}, transactions, removed_at FROM removed_blocks WHERE chain = $1 AND hash = $2
    ORDER BY removed_at DESC LIMIT 1) AS b
  JOIN reorgs r ON r.chain = $1 AND r.position = b.removed_at
  LEFT JOIN blocks standing ON standing.chain = $1 AND standing.height = b.height`;

/** Confirmations that the daemon reports for a block outside its active chain. */
const OUTSIDE_THE_CHAIN = -1;

const HASH_LENGTH = 64;
const HEIGHT_OR_HASH = { type: 'string', pattern: `^([0-9]{1,10}|${WRITTEN_HASH})$` } as const;

const detail = stateRoute({
  path: '/api/blocks/:height',
  summary: 'A block by its height or hash; by hash also one that a reorganisation removed',
  parameters: {
    height: pathParameter('Height of the block, or its hash', HEIGHT_OR_HASH),
    chain: chainParameter,
  },
  response: blockDetail,
  weight: 2,
  cache: 'state',
  scope: 'chain',
  settledAt: ({ height }) => height,
  async handler({ params, read, api }) {
    const { chain } = params;
    const tip = tipHeight(read, chain);
    const finalized = finalizedHeight(tip, api.chain(chain).finalityDepth);
    const currencies = await api.currencies.of(read);
    const asked = params.height.toLowerCase();
    const isHeight = asked.length < HASH_LENGTH;
    if (isHeight && Number(asked) > writtenHeight.maximum) {
      throw parameterError('height', `height must be at most ${writtenHeight.maximum}`);
    }
    const key = [chain, isHeight ? Number(asked) : hexParam(asked)];
    const block = await read.row(readStanding, `${STANDING_SQL} AND ${isHeight ? 'height' : 'hash'} = $2`, key);
    if (block) {
      const confirmations = tip - block.height + 1;
      const place = { confirmations, finalizedHeight: finalized, canonical: true, removal: null };
      return { ...wholeAnswer(block, currencies), ...place };
    }
    const removed = isHeight ? undefined : await read.row(readRemoved, REMOVED_SQL, key);
    if (!removed) throw notFound(`block ${asked} of ${chain}`);
    const { height, new_hash: hash, new_time: time } = removed;
    const replacedBy = hash === null ? null : { height, hash, time: Number(time) };
    const removal = { ...reorgAnswer(removed, api.chain(chain)), replacedBy };
    const place = { confirmations: OUTSIDE_THE_CHAIN, finalizedHeight: finalized, canonical: false, removal };
    return { ...wholeAnswer(removed, currencies), ...place };
  },
});

function wholeAnswer(block: RowRead<typeof readStanding>, currencies: Currencies) {
  const transactions = readTransactions(block.transactions ?? '[]');
  return {
    ...blockAnswer(block),
    previousHash: block.previous_hash,
    nextHash: block.next_hash,
    merkleRoot: block.merkle_root,
    chainWork: block.chain_work,
    chainStake: block.chain_stake,
    bits: block.bits,
    nonce: block.nonce,
    version: Number(block.version),
    fees: coins(block.fees),
    feePool: coinsOrNull(block.fee_pool),
    transactions: transactions.map(({ txid, type, fee, size, value, currencies: held }) => ({
      txid,
      type,
      fee: fee === null ? null : coins(BigInt(fee)),
      size,
      value: coins(BigInt(value)),
      currencies: amounts(held, currencies),
    })),
  };
}

export const blockDetailRoutes = [detail];
