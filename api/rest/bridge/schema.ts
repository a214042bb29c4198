/** Schema of transfers between a chain and other systems. */
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
    description: 'Of the request; null while the chain of the request has not reached it, or is not indexed',
  },
  vout: { ...nullableInteger, description: 'Output of the request; null with txid' },
  direction: { type: 'string', enum: BRIDGE_DIRECTIONS },
  type: {
    type: 'string',
    enum: TRANSFER_KINDS,
    description: 'What the transfer requests at its destination; send: only delivery',
  },
  systemId: { type: 'string', description: 'The other system: the source or the destination' },
  systemName: nullableString,
  systemChain: { ...nullableString, description: 'Name of that system if the service indexes it too' },
  currency: { ...nullableString, description: 'Name' },
  currencyId: string,
  amount: { ...coins, description: 'Includes the conversion fee, not the transfer fee' },
  usdValue: { ...nullableUsd, description: 'Of the amount, at the newest price' },
  toCurrency: nullableString,
  toCurrencyId: string,
  amountOut: {
    ...nullableCoins,
    description: 'In toCurrency; null until the transfer has arrived and if it was refunded',
  },
  sender: { ...nullableString, description: 'For incoming transfers, known only if the other chain is indexed too' },
  recipient: nullableString,
  fee: { ...coins, description: TRANSFER_FEE },
  feeCurrency: nullableString,
  feeCurrencyId: string,
  height: { ...height, description: 'Of the request; for incoming transfers, of the import' },
  time: { ...unixTime, description: 'Of the block at height' },
  status: {
    type: 'string',
    enum: CONVERSION_STATUSES,
    description:
      'pending: until its import is seen; a transfer to a system that is not indexed (Ethereum) stays pending for ever, and exportTxid shows ' +
      'whether it is on its way. completed, refunded: how it ended. ' +
      'unmatched: it arrived, but no output of the import could be identified as its payout or refund',
  },
  exportTxid: nullableHash,
  ...ends,
});
