/** Addresses: history and rewards. */
import { TRANSACTION_TYPES } from '../../../schemas/facts.ts';
import { seenAt } from '../../mempool/transaction-schema.ts';
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

const type = { type: 'string', enum: TRANSACTION_TYPES } as const;
const flows = {
  received: { ...coins, description: 'Native coin, gross' },
  sent: { ...coins, description: 'Native coin, gross' },
  net: coins,
  currencies: array(currencyAmount, 'Net of every other currency'),
} as const;

export const activityRow = object({ txid: hash, height, time: unixTime, type, ...flows });

/** Most waiting transactions of one address in an answer; its sums count all. */
export const MOST_WAITING = 200;

export const waitingActivity = object(
  {
    txCount: integer,
    ...flows,
    truncated: { ...boolean, description: 'The daemon holds transactions that this service does not show' },
    transactions: array(object({ txid: hash, seenAt, type, ...flows }), `The newest ${MOST_WAITING}, newest first`),
  },
  'With unconfirmed=true, otherwise null: what all transactions that wait do to the address',
);

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
