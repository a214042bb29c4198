/** The protocol's integer arithmetic of conversions: satoshis, every step rounded down. */

import { SATOSHIS_PER_COIN } from '../../domain/satoshi.ts';
import type { TransferKind } from '../../domain/transfers.ts';
import type { TransferFact } from '../../schemas/facts.ts';

/** 0.025 % of 10^8. */
const CONVERSION_FEE_RATE = 25_000n;

/** What one import says its currency costs; prices are satoshis of a reserve for one whole basket token. */
export interface ImportPrices {
  readonly importCurrencyId: string;
  readonly isBasket: boolean;
  /** Between a reserve and the basket. */
  readonly price: ReadonlyMap<string, bigint>;
  /** From the basket to the final reserve of a `via`: what the first legs bought is sold after them. */
  readonly viaPrice: ReadonlyMap<string, bigint>;
}

/** What of a transfer decides about its payout. */
export type AskedConversion = Pick<
  TransferFact,
  'kind' | 'fromCurrencyId' | 'toCurrencyId' | 'amountIn' | 'conversionFee'
>;

/** What a transfer should pay; null when the import states no price for one of its currencies. */
export interface ExpectedPayout {
  readonly currencyId: string;
  readonly amount: bigint;
}

/** Taken from the currency that goes in: once for each of the two legs of a `via`. */
export function conversionFee(kind: TransferKind, amountIn: bigint): bigint {
  const oneLeg = (amountIn * CONVERSION_FEE_RATE) / SATOSHIS_PER_COIN;
  if (kind === 'via') return 2n * oneLeg;
  return kind === 'convert' || kind === 'preconvert' ? oneLeg : 0n;
}

/** What the import at these prices pays for the transfer; 0 for a burn. */
export function expectedPayout(transfer: AskedConversion, prices: ImportPrices): ExpectedPayout | null {
  const { kind, toCurrencyId: currencyId, amountIn } = transfer;
  if (kind === 'burn') return { currencyId, amount: 0n };
  if (kind === 'mint' || kind === 'send') return { currencyId, amount: amountIn };
  const amount = convertedAmount(transfer, prices);
  return amount === null ? null : { currencyId, amount };
}

function convertedAmount(transfer: AskedConversion, prices: ImportPrices): bigint | null {
  const { kind, fromCurrencyId, toCurrencyId } = transfer;
  const net = netAmount(transfer);
  if (fromCurrencyId === prices.importCurrencyId) {
    const sellPrice = prices.price.get(toCurrencyId);
    return sellPrice === undefined ? null : basketToReserve(net, sellPrice);
  }
  const buyPrice = fromCurrencyId === null ? undefined : prices.price.get(fromCurrencyId);
  if (buyPrice === undefined) return null;
  const bought = reserveToBasket(net, buyPrice);
  if (kind !== 'via') return bought;
  const viaPrice = prices.viaPrice.get(toCurrencyId);
  return viaPrice === undefined ? null : basketToReserve(bought, viaPrice);
}

/** What is left to convert after the conversion fee. */
export function netAmount({ amountIn, conversionFee }: Pick<TransferFact, 'amountIn' | 'conversionFee'>): bigint {
  return amountIn - conversionFee;
}

/** The protocol gives nothing at a price of 0, as it stands in a state that could not be solved. */
function reserveToBasket(reserve: bigint, price: bigint): bigint {
  return price === 0n ? 0n : (reserve * SATOSHIS_PER_COIN) / price;
}

function basketToReserve(basket: bigint, price: bigint): bigint {
  return (basket * price) / SATOSHIS_PER_COIN;
}
