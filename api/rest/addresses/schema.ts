/** Addresses: history and rewards. */
import { TRANSACTION_TYPES } from '../../../schemas/facts.ts';
import {
  array,
  boolean,
  coins,
  currencyAmount,
  hash,
  height,
  integer,
  object,
  page,
  string,
  unixTime,
} from '../../schema/json-schema.ts';

/** Schema of an address in a parameter. */
export const ADDRESS = { type: 'string', minLength: 1, maxLength: 200 } as const;

export const addressHistory = page(
  object({
    txid: hash,
    height,
    time: unixTime,
    type: { type: 'string', enum: TRANSACTION_TYPES },
    received: { ...coins, description: 'Native coin, gross' },
    sent: { ...coins, description: 'Native coin, gross' },
    net: coins,
    currencies: array(currencyAmount, 'Net of every other currency'),
  }),
  { address: string, chain: string, txCount: integer },
);

const rewardSum = object({ count: integer, total: coins });

export const addressRewards = page(
  object({
    height,
    time: unixTime,
    txid: hash,
    vout: integer,
    type: { type: 'string', enum: ['mining', 'staking'] },
    amount: coins,
    mature: boolean,
  }),
  { address: string, chain: string, mining: rewardSum, staking: rewardSum },
);
