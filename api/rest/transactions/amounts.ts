/** Amounts as the stores keep them in JSON. */
import { coins } from '../../http/values.ts';
import type { Currencies } from '../../state/currency-directory.ts';

/** {i-address: "satoshis"} as the store keeps it → amounts with their names. */
export function amounts(stored: string | null, currencies: Currencies) {
  if (stored === null) return [];
  const entries = Object.entries(JSON.parse(stored) as Record<string, string>);
  return entries.map(([currencyId, satoshis]) => ({
    currencyId,
    currencyName: currencies.name(currencyId),
    amount: coins(BigInt(satoshis)),
  }));
}
