/** A currency as of a block: who held it, how much of it there was, what its basket held. */
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
  height: { ...height, description: 'Block that the answer is as of' },
  time: unixTime,
} as const;

export const currencyHolders = object({
  ...place,
  holders: { ...integer, description: 'Addresses that held any, keys of the protocol left out' },
  results: array(
    object({
      rank: { type: 'integer', minimum: 1 },
      address: string,
      name: { ...nullableString, description: 'Qualified, of an identity as it is named now' },
      balance: {
        ...coins,
        description: 'As /api/address/:addr/balance says: an output of several people counts for each',
      },
      percent: { ...nullableNumber, description: 'Of the supply; null where that is not known' },
      usdValue: { ...nullableUsd, description: 'At the price of then' },
    }),
    'Largest first',
  ),
  more: { ...boolean, description: 'There are smaller holders: a larger `limit`, up to 500, shows more of them' },
});

export const currencySupply = object({
  ...place,
  supply: {
    ...nullableCoins,
    description: "Of a chain's own coin all that was issued; else as its newest state says, null where it had none",
  },
  stateHeight: { ...nullableInteger, description: 'Block of that state' },
});

export const currencyStateAt = object({
  ...place,
  stateHeight: { ...height, description: 'Block of the newest state then' },
  txid: hash,
  vout: integer,
  flags: integer,
  live: { ...boolean, description: 'A basket that trades' },
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
