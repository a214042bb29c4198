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
  unixTime,
} from '../../schema/json-schema.ts';

export const activityRow = object({
  txid: hash,
  height,
  time: unixTime,
  type: { type: 'string', enum: TRANSACTION_TYPES },
  received: { ...coins, description: 'Native coin, gross' },
  sent: { ...coins, description: 'Native coin, gross' },
  net: coins,
  currencies: array(currencyAmount, 'Net of every other currency'),
});

export const rewardSum = object({ count: integer, total: coins });

export const rewardRow = object({
  height,
  time: unixTime,
  txid: hash,
  vout: integer,
  type: { type: 'string', enum: ['mining', 'staking'] },
  amount: coins,
  mature: boolean,
});
