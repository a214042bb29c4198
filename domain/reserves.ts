/** One reserve of a basket in a currency state. Amounts are satoshis. */
export interface ReserveBalance {
  readonly currencyId: string;
  /** 10^8 = 100 %. */
  readonly weight: bigint;
  readonly reserves: bigint;
  readonly priceInReserve: bigint;
}

/** Reads reserves as the stores keep them: JSON text whose amounts are strings of digits. */
export function parseReserves(text: string): ReserveBalance[] {
  const stored = JSON.parse(text) as { readonly [K in keyof ReserveBalance]: string }[];
  return stored.map(({ currencyId, weight, reserves, priceInReserve }) => ({
    currencyId,
    weight: BigInt(weight),
    reserves: BigInt(reserves),
    priceInReserve: BigInt(priceInReserve),
  }));
}
