/** Amounts of currencies with their names. */
import { readAmounts } from '../../../infra/stored-json/amounts.ts';
import { coins } from '../../http/values.ts';
import type { Currencies } from '../../state/currency-directory.ts';

export function currencyAmounts(entries: readonly (readonly [string, bigint])[], currencies: Currencies) {
  return entries.map(([currencyId, amount]) => ({
    currencyId,
    currencyName: currencies.name(currencyId),
    amount: coins(amount),
  }));
}

/** `stored`: JSON text {i-address: "satoshis"}. */
export function amounts(stored: string | null, currencies: Currencies) {
  if (stored === null) return [];
  const entries = Object.entries(readAmounts(stored));
  return currencyAmounts(
    entries.map(([currencyId, satoshis]) => [currencyId, BigInt(satoshis)] as const),
    currencies,
  );
}
