/** getbalanceall: the balances of addresses in every currency, the native coin included. */
import { coins } from '../../http/values.ts';
import { holdingsOf, newestPricesOf } from '../../rest/addresses/balance-rows.ts';
import { tipHeight } from '../../state/tip-height.ts';
import { addressesOf } from './addresses.ts';
import { readArguments, type Signature } from './arguments.ts';
import type { Extension } from './extension.ts';

const SIGNATURE: Signature = {
  method: 'getbalanceall',
  positions: ['address'],
  required: 1,
  members: ['address', 'addresses'],
};

export const balanceAll: Extension = async ({ api, chain, read, texts }) => {
  const addresses = addressesOf(chain, readArguments(texts, SIGNATURE));
  const height = tipHeight(read, chain.name);
  const held = await holdingsOf(read, api, chain, addresses, { height, pricesOf: newestPricesOf(read, api) });
  const [address = null, ...others] = addresses;
  return {
    ...(others.length === 0 ? { address } : { addresses }),
    height,
    balances: held.map(({ currencyId, currencyName, balance, usdValue }) => ({
      currencyId,
      currencyName,
      balance: coins(balance),
      balanceSat: balance.toString(),
      usdValue,
    })),
  };
};
