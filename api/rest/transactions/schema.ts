/** Schema of a transaction. */
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
  height: { ...nullableInteger, description: 'Null while unconfirmed; only unconfirmed=true shows such a transaction' },
  blockHash: nullableHash,
  time: {
    ...unixTime,
    description: 'Time of the block, seconds since the epoch; while unconfirmed, when the transaction was first seen',
  },
  confirmations: { ...integer, description: '0 while unconfirmed' },
  finalizedHeight,
  type: transactionType,
  types: array(transactionType, 'Every type that applies; the first one is `type`'),
  isCoinbase: boolean,
  fee: {
    ...nullableCoins,
    description: `${NETWORK_FEE} Null for a coinbase and for an import, whose surplus is not a network fee`,
  },
  size: integer,
  lockTime: integer,
  expiryHeight: integer,
  inputs: array(
    object({
      txid: hash,
      vout: integer,
      addresses: array(string),
      value: { ...nullableCoins, description: 'Null while unconfirmed if the spent output is not known' },
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
  conversions: array(conversionRow, 'Conversions that this transaction requested or settled; empty while unconfirmed'),
});

export const transactionDetail = withOptional(detail, {
  usdPrices,
  unconfirmed: {
    ...nullable(waitingTransaction),
    description: 'With unconfirmed=true; null for a transaction in a block',
  },
});
