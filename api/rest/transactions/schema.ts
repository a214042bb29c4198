/** Transactions and what they moved. */
import { TRANSACTION_TYPES } from '../../../schemas/facts.ts';
import {
  array,
  boolean,
  coins,
  currencyAmount,
  finalizedHeight,
  hash,
  height,
  integer,
  nullableCoins,
  nullableHash,
  object,
  string,
  unixTime,
} from '../../schema/json-schema.ts';
import { conversionRow } from '../conversions/schema.ts';

const transactionType = { type: 'string', enum: TRANSACTION_TYPES } as const;
const currencies = array(currencyAmount, 'Currencies other than the native coin');

export const transactionDetail = object({
  chain: string,
  txid: hash,
  height,
  blockHash: hash,
  time: unixTime,
  confirmations: integer,
  finalizedHeight,
  type: transactionType,
  types: array(transactionType, 'Every type that fits, the first of them is `type`'),
  isCoinbase: boolean,
  fee: { ...nullableCoins, description: 'Null for a coinbase and for an import, whose surplus is no miner fee' },
  size: integer,
  lockTime: integer,
  expiryHeight: integer,
  inputs: array(object({ txid: hash, vout: integer, addresses: array(string), value: coins, currencies })),
  outputs: array(
    object({
      n: integer,
      value: coins,
      addresses: array(string),
      kind: { type: 'string', description: 'Kind of smart output, or the script type' },
      currencies,
      spentTxid: nullableHash,
      data: { description: 'The decoded object as the daemon prints it; null for plain scripts' },
    }),
  ),
  conversions: array(conversionRow, 'Requested by this transaction or settled by it'),
});
