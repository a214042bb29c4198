/** Transfers between a chain and other systems. */
import { CONVERSION_STATUSES, TRANSFER_KINDS } from '../../../domain/transfers.ts';
import { TRANSFER_FEE } from '../../schema/fees.ts';
import {
  coins,
  height,
  nullableCoins,
  nullableHash,
  nullableInteger,
  nullableString,
  nullableUsd,
  object,
  string,
  unixTime,
} from '../../schema/json-schema.ts';
import { transferEnds } from '../conversions/transfer-ends-schema.ts';

export const BRIDGE_DIRECTIONS = ['in', 'out'] as const;

const { sourceSystemId: _, sourceChain: __, ...ends } = transferEnds;

export const bridgeTransfer = object({
  chain: string,
  txid: {
    ...nullableHash,
    description: 'Of the request; null while the chain that it was made on is not there yet, or is not indexed',
  },
  vout: { ...nullableInteger, description: 'Output of the request; null with txid' },
  direction: { type: 'string', enum: BRIDGE_DIRECTIONS },
  type: {
    type: 'string',
    enum: TRANSFER_KINDS,
    description: 'What it asks for where it goes; send: nothing but to arrive',
  },
  systemId: { type: 'string', description: 'The other system: where it came from, or where it goes' },
  systemName: nullableString,
  systemChain: { ...nullableString, description: 'Its name, where the service indexes it too' },
  currency: { ...nullableString, description: 'Name' },
  currencyId: string,
  amount: { ...coins, description: 'Conversion fee inside, transfer fee outside' },
  usdValue: { ...nullableUsd, description: 'Of the amount, at the newest price' },
  toCurrency: nullableString,
  toCurrencyId: string,
  amountOut: { ...nullableCoins, description: 'In toCurrency; null until it arrived and when it was refunded' },
  sender: { ...nullableString, description: 'Of what came in: where the other chain is indexed too' },
  recipient: nullableString,
  fee: { ...coins, description: TRANSFER_FEE },
  feeCurrency: nullableString,
  feeCurrencyId: string,
  height: { ...height, description: 'Of the request; of what came in, of the import' },
  time: { ...unixTime, description: 'Of the block at height' },
  status: {
    type: 'string',
    enum: CONVERSION_STATUSES,
    description:
      'pending: until its import is seen; it stays so for ever where that is on a system that is not indexed (Ethereum), and exportTxid says ' +
      'whether it is on its way. completed, refunded: how it ended. ' +
      'unmatched: it arrived, but no output of the import could be identified as its payout or refund',
  },
  exportTxid: nullableHash,
  ...ends,
});
