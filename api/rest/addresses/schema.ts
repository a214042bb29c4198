/** Addresses: history and rewards. */
import { TRANSACTION_TYPES } from '../../../schemas/facts.ts';
import { seenTime } from '../../mempool/transaction-schema.ts';
import { withUnconfirmed } from '../../mempool/unconfirmed-part.ts';
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

const type = { type: 'string', enum: TRANSACTION_TYPES } as const;
const flows = {
  received: { ...coins, description: 'Native coin, gross' },
  sent: { ...coins, description: 'Native coin, gross' },
  net: coins,
  currencies: array(currencyAmount, 'Net of every other currency'),
} as const;

const history = page(object({ txid: hash, height, time: unixTime, type, ...flows }), {
  address: string,
  chain: string,
  txCount: integer,
});

/** Most waiting transactions of one address in an answer; its sums count all. */
export const MOST_WAITING = 200;

export const addressHistory = withUnconfirmed(
  history,
  object(
    {
      txCount: integer,
      ...flows,
      truncated: { ...boolean, description: 'The daemon holds transactions that this service does not show' },
      transactions: array(
        object({ txid: hash, time: seenTime, type, ...flows }),
        `The newest ${MOST_WAITING}, newest first`,
      ),
    },
    'What all transactions that wait do to the address; in CSV and NDJSON there are only those in blocks.',
  ),
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
