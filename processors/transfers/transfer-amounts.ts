/** The protocol's integer arithmetic of conversions: satoshis, every step rounded down. */

import { SATOSHIS_PER_COIN } from '../../domain/satoshi.ts';
import type { TransferKind } from '../../domain/transfers.ts';
import type { TransferFact } from '../../schemas/facts.ts';

/** 0.025 % of 10^8. */
const CONVERSION_FEE_RATE = 25_000n;

/** Prices of an import's currency, in satoshis of a reserve for one whole basket token. */
export interface ImportPrices {
  readonly importCurrencyId: string;
  readonly isBasket: boolean;
  /** Between a reserve and the basket. */
  readonly price: ReadonlyMap<string, bigint>;
  /** From the basket to the final reserve of a `via`, sold after the first legs. */
  readonly viaPrice: ReadonlyMap<string, bigint>;
}

/** Members of a transfer that determine its payout. */
export type RequestedConversion = Pick<
  TransferFact,
  'kind' | 'fromCurrencyId' | 'toCurrencyId' | 'amountIn' | 'conversionFee'
>;

/** Expected payout of a transfer; null if the import has no price for one of its currencies. */
export interface ExpectedPayout {
  readonly currencyId: string;
  readonly amount: bigint;
}

/** Charged in the currency that is paid in, once per leg: a `via` has two legs. */
export function conversionFee(kind: TransferKind, amountIn: bigint): bigint {
  const oneLeg = (amountIn * CONVERSION_FEE_RATE) / SATOSHIS_PER_COIN;
  if (kind === 'via') return 2n * oneLeg;
  return kind === 'convert' || kind === 'preconvert' ? oneLeg : 0n;
}

/** Payout of the transfer at these prices; 0 for a burn. */
export function expectedPayout(transfer: RequestedConversion, prices: ImportPrices): ExpectedPayout | null {
  const { kind, toCurrencyId: currencyId, amountIn } = transfer;
  if (kind === 'burn') return { currencyId, amount: 0n };
  if (kind === 'mint' || kind === 'send') return { currencyId, amount: amountIn };
  const amount = convertedAmount(transfer, prices);
  return amount === null ? null : { currencyId, amount };
}

function convertedAmount(transfer: RequestedConversion, prices: ImportPrices): bigint | null {
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

/** Amount to convert after the conversion fee. */
export function netAmount({ amountIn, conversionFee }: Pick<TransferFact, 'amountIn' | 'conversionFee'>): bigint {
  return amountIn - conversionFee;
}

/** The protocol pays nothing at a price of 0, which marks a state that could not be solved. */
function reserveToBasket(reserve: bigint, price: bigint): bigint {
  return price === 0n ? 0n : (reserve * SATOSHIS_PER_COIN) / price;
}

function basketToReserve(basket: bigint, price: bigint): bigint {
  return (basket * price) / SATOSHIS_PER_COIN;
}
