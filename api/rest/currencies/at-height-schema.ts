/** Schemas of a currency as of a block: its holders, its supply, and the reserves of its basket. */
import {
  array,
  boolean,
  coins,
  hash,
  height,
  integer,
  nullableCoins,
  nullableInteger,
  nullableNumber,
  nullableString,
  nullableUsd,
  object,
  string,
  unixTime,
} from '../../schema/json-schema.ts';

const place = {
  currencyId: string,
  currencyName: nullableString,
  chain: string,
  height: { ...height, description: 'Block to whose end the answer applies' },
  time: unixTime,
} as const;

export const currencyHolders = object({
  ...place,
  holders: { ...integer, description: 'Number of addresses with a balance; keys of the protocol do not count' },
  results: array(
    object({
      rank: { type: 'integer', minimum: 1 },
      address: string,
      name: { ...nullableString, description: 'Current qualified name of an identity' },
      balance: {
        ...coins,
        description: 'As in /api/address/:addr/balance: an output with several addresses counts for each',
      },
      percent: { ...nullableNumber, description: 'Share of the supply; null if the supply is not known' },
      usdValue: { ...nullableUsd, description: 'At the price of that time' },
    }),
    'Largest first',
  ),
  more: { ...boolean, description: 'There are smaller holders: a larger `limit`, up to 500, shows more of them' },
});

export const currencySupply = object({
  ...place,
  supply: {
    ...nullableCoins,
    description:
      "All that was issued of a chain's own coin; for other currencies the supply in the newest state, null without one",
  },
  stateHeight: { ...nullableInteger, description: 'Block of that state' },
});

export const currencyStateAt = object({
  ...place,
  stateHeight: { ...height, description: 'Block of the newest state at that time' },
  txid: hash,
  vout: integer,
  flags: integer,
  live: { ...boolean, description: 'Whether it is a basket that trades' },
  supply: coins,
  reserves: array(
    object({
      currencyId: string,
      currencyName: nullableString,
      weight: { ...coins, description: '1 = 100 %' },
      reserve: coins,
      priceInReserve: coins,
    }),
    'Empty unless it is a basket',
  ),
});
