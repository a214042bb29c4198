/** Transactions and what they moved. */
import { waitingTransaction } from '../../mempool/transaction-schema.ts';
import { NETWORK_FEE } from '../../schema/fees.ts';
import {
  array,
  boolean,
  coins,
  currencyAmount,
  finalizedHeight,
  hash,
  integer,
  nullable,
  nullableCoins,
  nullableHash,
  nullableInteger,
  object,
  string,
  transactionType,
  unixTime,
  withOptional,
} from '../../schema/json-schema.ts';
import { conversionRow } from '../conversions/schema.ts';
import { usdPrices } from '../prices/worth-then.ts';

const currencies = array(currencyAmount, 'Currencies other than the native coin');

const detail = object({
  chain: string,
  txid: hash,
  height: { ...nullableInteger, description: 'Null while it waits for a block, which only unconfirmed=true tells' },
  blockHash: nullableHash,
  time: {
    ...unixTime,
    description: 'Seconds since the epoch, as the block says; while it waits, when it was first seen',
  },
  confirmations: { ...integer, description: '0 while it waits' },
  finalizedHeight,
  type: transactionType,
  types: array(transactionType, 'Every type that fits, the first of them is `type`'),
  isCoinbase: boolean,
  fee: {
    ...nullableCoins,
    description: `${NETWORK_FEE} Null for a coinbase and for an import, whose surplus is no network fee`,
  },
  size: integer,
  lockTime: integer,
  expiryHeight: integer,
  inputs: array(
    object({
      txid: hash,
      vout: integer,
      addresses: array(string),
      value: { ...nullableCoins, description: 'Null while it waits and what it spends is not known' },
      currencies,
    }),
  ),
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
  conversions: array(conversionRow, 'Requested by this transaction or settled by it, once it is in a block'),
});

export const transactionDetail = withOptional(detail, {
  usdPrices,
  unconfirmed: { ...nullable(waitingTransaction), description: 'With unconfirmed=true; null for one in a block' },
});
