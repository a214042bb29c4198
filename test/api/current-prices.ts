import type { LooseJson } from './truth.ts';

/** Oracle prices as the service at `url` answers them, by currency. */
export async function currentPrices(url: string): Promise<Map<string, number>> {
  const rows = (await (await fetch(`${url}/api/oracle/prices`)).json()) as LooseJson[];
  return new Map(rows.map(({ currencyId, usdPrice }) => [currencyId, usdPrice]));
}
