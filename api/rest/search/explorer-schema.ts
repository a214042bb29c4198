/** Schemas of an explorer other than blocks and transactions: balances, holders, stakes, search. */
import {
  array,
  boolean,
  coins,
  hash,
  height,
  integer,
  nullableNumber,
  nullableString,
  nullableUsd,
  object,
  string,
  unixTime,
} from '../../schema/json-schema.ts';
import { MOST_NEAR } from '../../state/near-names.ts';

export const addressBalance = object({
  address: string,
  chain: string,
  balances: array(
    object({ currencyId: string, currencyName: nullableString, balance: coins, usdValue: nullableUsd }),
    'Every currency held, the native one first',
  ),
  native: coins,
  received: { ...coins, description: 'Native coins received in all, spent ones included' },
  height: { ...height, description: 'Block to whose end the balances apply' },
});

export const richList = object({
  chain: string,
  height,
  results: array(
    object({
      rank: { type: 'integer', minimum: 1 },
      address: string,
      name: { ...nullableString, description: 'Name of an identity' },
      type: { type: 'string', enum: ['address', 'identity'] },
      balance: coins,
      percent: { ...nullableNumber, description: 'Percent of all coins issued' },
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
  name: { ...nullableString, description: 'Qualified name of an identity' },
  rewardAddress: nullableString,
  rewardName: nullableString,
  stakeTxid: { ...hash, description: 'Transaction of the output that won' },
  stakeVout: integer,
  stakeAmount: coins,
  reward: coins,
});

export const FOUND_TYPES = ['block', 'tx', 'address', 'identity', 'currency', 'basket'] as const;

const found = object({
  type: { type: 'string', enum: FOUND_TYPES },
  id: string,
  label: string,
  chain: string,
  url: { type: 'string', description: 'Path that serves it' },
});
export const searchResults = object({
  query: string,
  results: array(found),
  near: {
    ...array(
      found,
      'If nothing is found: currencies and identities with a name similar to the text, most similar first',
    ),
    maxItems: MOST_NEAR,
  },
});
export const suggestions = object({ query: string, results: { ...array(found), maxItems: 10 } });

export const nameList = object({
  results: array(
    object({
      id: string,
      name: {
        ...nullableString,
        description: 'Qualified name without the final @; null if no chain knows the i-address',
      },
      kind: {
        type: ['string', 'null'],
        enum: ['identity', 'currency', 'basket', null],
        description: 'An i-address that is both a currency and an identity counts as a currency',
      },
      chain: {
        ...nullableString,
        description: 'Chain of the currency; for an identity the first configured chain that has it',
      },
    }),
    'In the order of the request',
  ),
});
