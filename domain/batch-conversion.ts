/**
 * Estimates the outputs of conversions that one import of a basket executes together: one price per reserve, between the reserve's price
 * before and after all of them. The daemon solves the reserves together, with its own method: the estimate is accurate for few or small
 * conversions, and only close for many large ones (docs/decisions/0058-mempool.md).
 */
import type { ReserveBalance } from './reserves.ts';
import { SATOSHIS_PER_COIN } from './satoshi.ts';

export interface BatchBasket {
  readonly currencyId: string;
  readonly supply: bigint;
  readonly reserves: readonly Pick<ReserveBalance, 'currencyId' | 'weight' | 'reserves'>[];
}

export interface BatchConversion {
  readonly kind: 'convert' | 'via';
  readonly fromCurrencyId: string;
  readonly toCurrencyId: string;
  /** Satoshis, including the conversion fee. */
  readonly amountIn: bigint;
  readonly conversionFee: bigint;
}

/** A reserve while the batch is computed; amounts in satoshis. Doubles are exact enough for an amount to within a few satoshis. */
interface Flow {
  readonly weight: number;
  /** Amount before the batch. */
  readonly reserves: number;
  /** Amount of the reserve that buys tokens. */
  paidIn: number;
  /** Tokens that buy the reserve. */
  tokensIn: number;
  /** Units of the reserve for one token. */
  price: number;
  /** Tokens that the first legs of the batch's `via` conversions bought, to be sold for this reserve. */
  crossing: number;
  viaPrice: number;
}

const COIN = Number(SATOSHIS_PER_COIN);
const ROUNDS = 60;
const PRECISION = 1e-12;

/** Returns one output per conversion, in order; null when the basket does not convert it or a reserve cannot cover the batch. */
export function estimateBatch(basket: BatchBasket, conversions: readonly BatchConversion[]): (bigint | null)[] {
  const supply = Number(basket.supply);
  const flows = new Map(
    basket.reserves
      .filter(({ reserves, weight }) => reserves > 0n && weight > 0n)
      .map(({ currencyId, reserves, weight }) => [currencyId, flowOf(Number(reserves), Number(weight) / COIN, supply)]),
  );
  const converts = conversions.map((one) => supply > 0 && isConverted(one, basket.currencyId, flows));
  const each = (work: (one: BatchConversion, net: number) => void) =>
    conversions.forEach((one, index) => {
      if (converts[index]) work(one, Number(one.amountIn - one.conversionFee));
    });
  each((one, net) => {
    const source = flows.get(one.fromCurrencyId);
    const target = flows.get(one.toCurrencyId);
    if (source) source.paidIn += net;
    else if (target) target.tokensIn += net;
  });
  for (const flow of flows.values()) flow.price = clearingPrice(flow, supply);
  each((one, net) => {
    const [source, target] = [flows.get(one.fromCurrencyId), flows.get(one.toCurrencyId)];
    if (one.kind === 'via' && source && target) target.crossing += net / source.price;
  });
  let after = supply;
  for (const { paidIn, tokensIn, price } of flows.values()) after += paidIn / price - tokensIn;
  for (const flow of flows.values()) flow.viaPrice = viaPrice(flow, after);
  return conversions.map((one, index) => (converts[index] ? outputOf(one, flows) : null));
}

function flowOf(reserves: number, weight: number, supply: number): Flow {
  const price = reserves / (supply * weight);
  return { weight, reserves, paidIn: 0, tokensIn: 0, price, crossing: 0, viaPrice: price };
}

function isConverted(one: BatchConversion, basketId: string, flows: ReadonlyMap<string, Flow>): boolean {
  const [from, to] = [flows.has(one.fromCurrencyId), flows.has(one.toCurrencyId)];
  if (one.kind === 'via') return from && to;
  return (from && one.toCurrencyId === basketId) || (one.fromCurrencyId === basketId && to);
}

/** Mean price of the amount left after buyers and sellers are matched at that same price; NaN when the reserve cannot cover it. */
function clearingPrice({ reserves, weight, paidIn, tokensIn, price: mid }: Flow, supply: number): number {
  let price = mid;
  for (let round = 0; round < ROUNDS; round += 1) {
    const net = paidIn - tokensIn * price;
    if (net <= -reserves) return Number.NaN;
    const next = Math.abs(net) < 1 ? mid : net / (supply * Math.expm1(weight * Math.log1p(net / reserves)));
    if (Math.abs(next - price) <= price * PRECISION) return next;
    // Step half way: a large sale would otherwise oscillate.
    price = (price + next) / 2;
  }
  return price;
}

/** The second legs of `via` conversions are sold after everything else; `supply` includes the tokens that their first legs bought. */
function viaPrice({ reserves, weight, paidIn, tokensIn, price, crossing }: Flow, supply: number): number {
  if (crossing === 0) return price;
  const left = reserves + paidIn - tokensIn * price;
  if (crossing >= supply || left <= 0) return Number.NaN;
  return (-left * Math.expm1(Math.log1p(-crossing / supply) / weight)) / crossing;
}

/** Rounds down like the daemon: first the price to a satoshi, then the amount. */
function outputOf(one: BatchConversion, flows: ReadonlyMap<string, Flow>): bigint | null {
  const [source, target] = [flows.get(one.fromCurrencyId), flows.get(one.toCurrencyId)];
  const net = one.amountIn - one.conversionFee;
  const bought = source ? tokensFor(net, source.price) : net;
  if (bought === null || !target) return bought;
  return reservesFor(bought, source ? target.viaPrice : target.price);
}

function tokensFor(reserve: bigint, price: number): bigint | null {
  const satoshis = inSatoshis(price);
  return satoshis === null || satoshis === 0n ? null : (reserve * SATOSHIS_PER_COIN) / satoshis;
}

function reservesFor(tokens: bigint, price: number): bigint | null {
  const satoshis = inSatoshis(price);
  return satoshis === null ? null : (tokens * satoshis) / SATOSHIS_PER_COIN;
}

function inSatoshis(price: number): bigint | null {
  return Number.isFinite(price) && price >= 0 ? BigInt(Math.floor(price * COIN)) : null;
}
