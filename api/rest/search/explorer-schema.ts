/** Balances, holders, stakes, search: the answers of an explorer other than blocks and transactions. */
import {
  array,
  boolean,
  coins,
  hash,
  height,
  integer,
  nullableString,
  nullableUsd,
  object,
  string,
  unixTime,
} from '../../schema/json-schema.ts';

const nullableNumber = { type: ['number', 'null'] } as const;

export const addressBalance = object({
  address: string,
  chain: string,
  balances: array(
    object({ currencyId: string, currencyName: nullableString, balance: coins, usdValue: nullableUsd }),
    'Every currency held, the native one first',
  ),
  native: coins,
  received: { ...coins, description: 'Native coins ever received' },
  height: { ...height, description: 'Block that the balance stands at' },
});

export const richList = object({
  chain: string,
  height,
  results: array(
    object({
      rank: { type: 'integer', minimum: 1 },
      address: string,
      name: { ...nullableString, description: 'Of an identity' },
      type: { type: 'string', enum: ['address', 'identity'] },
      balance: coins,
      percent: { ...nullableNumber, description: 'Of all coins issued' },
      usdValue: nullableUsd,
    }),
  ),
  more: { ...boolean, description: 'There are smaller holders: a larger `limit`, up to 500, shows more of them' },
});

export const stakeRow = object({
  chain: string,
  height,
  hash,
  txid: { ...hash, description: 'The stake transaction' },
  time: unixTime,
  address: nullableString,
  rewardAddress: nullableString,
  stakeTxid: { ...hash, description: 'Of the output that won' },
  stakeVout: integer,
  stakeAmount: coins,
  reward: coins,
});

export const searchResults = object({
  query: string,
  results: array(
    object({
      type: { type: 'string', enum: ['block', 'tx', 'address', 'identity', 'currency', 'basket'] },
      id: string,
      label: string,
      chain: string,
      url: { type: 'string', description: 'Path that answers with it' },
    }),
  ),
});
