/** Schemas of the paths about addresses. */
import { seenAt } from '../../mempool/transaction-schema.ts';
import {
  array,
  boolean,
  coins,
  currencyAmount,
  hash,
  height,
  integer,
  isoDate,
  nullableString,
  object,
  string,
  transactionType,
  unixTime,
  withOptional,
} from '../../schema/json-schema.ts';
import { worthThen } from '../prices/worth-then.ts';

const flows = {
  received: { ...coins, description: 'Native coin, gross' },
  sent: { ...coins, description: 'Native coin, gross' },
  net: coins,
  currencies: array(currencyAmount, 'Net of every other currency'),
} as const;

export const activityRow = withOptional(
  object({ txid: hash, height, time: unixTime, type: transactionType, ...flows }),
  worthThen,
);

/** Most waiting transactions in an answer, and in its sums: an attacker could fill the mempool with payments to one address. */
export const MOST_WAITING = 200;
export const MOST_COUNTED = 1000;

export const waitingActivity = object(
  {
    txCount: integer,
    ...flows,
    truncated: {
      ...boolean,
      description: `The daemon has transactions that this service does not show, or more than ${MOST_COUNTED} concern the address, so that only the newest are counted`,
    },
    transactions: array(
      object({ txid: hash, seenAt, type: transactionType, ...flows }),
      `The newest ${MOST_WAITING}, newest first`,
    ),
  },
  'Effect of all unconfirmed transactions on the address; null without unconfirmed=true',
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

const date = { ...isoDate, description: 'UTC day' } as const;

export const balanceSeries = object({
  address: string,
  chain: string,
  currencyId: string,
  currencyName: string,
  days: integer,
  data: array(
    object({
      date,
      height: { ...height, description: 'Last block of the day; for the last day, the newest block' },
      balance: coins,
      received: { ...coins, description: 'Ever received, up to then' },
    }),
    'Oldest first',
  ),
});

export const monthlyRewards = object({
  address: string,
  chain: string,
  data: array(
    object({
      month: { type: 'string', pattern: '^\\d{4}-\\d\\d$', description: 'UTC month' },
      mining: rewardSum,
      staking: rewardSum,
    }),
  ),
});

export const addressChains = object({
  query: string,
  results: array(
    object({
      chain: string,
      address: { type: 'string', description: 'The address that the query means on this chain' },
      name: { ...nullableString, description: 'Qualified name if the address is an identity of the chain' },
      firstHeight: { ...height, description: 'First block with a transaction of the address' },
      lastHeight: { ...height, description: 'Last block with one' },
      lastTime: { ...unixTime, description: 'Time of that block' },
    }),
    'In the order of the configuration; empty where no chain knows it',
  ),
});
