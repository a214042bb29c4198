/**
 * What conversions bring that one import of a basket executes together: one price for each reserve, between what the reserve is worth
 * before and what it is worth after all of them. The daemon solves the reserves together, in a way of its own: of few conversions, or of
 * small ones, this tells what they bring, of many large ones what it comes near to (docs/decisions/0058-mempool.md).
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
  /** Satoshis, the conversion fee inside. */
  readonly amountIn: bigint;
  readonly conversionFee: bigint;
}

/** A reserve while the batch is computed; amounts in satoshis. A double is exact enough to tell an amount to a few satoshis. */
interface Flow {
  readonly weight: number;
  /** Before the batch. */
  readonly reserves: number;
  /** That buys tokens. */
  paidIn: number;
  /** Tokens that buy it. */
  tokensIn: number;
  /** Reserve for one token. */
  price: number;
  /** Tokens that this batch itself has bought on their way into it. */
  crossing: number;
  viaPrice: number;
}

const COIN = Number(SATOSHIS_PER_COIN);
const ROUNDS = 60;
const PRECISION = 1e-12;

/** In the order of `conversions`; null where the basket does not convert it, or cannot bear all of them. */
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

/** The mean price of what is left once buyers and sellers have met at that same price; NaN where the reserve cannot bear it. */
function clearingPrice({ reserves, weight, paidIn, tokensIn, price: mid }: Flow, supply: number): number {
  let price = mid;
  for (let round = 0; round < ROUNDS; round += 1) {
    const net = paidIn - tokensIn * price;
    if (net <= -reserves) return Number.NaN;
    const next = Math.abs(net) < 1 ? mid : net / (supply * Math.expm1(weight * Math.log1p(net / reserves)));
    if (Math.abs(next - price) <= price * PRECISION) return next;
    // Half way: a large sale would otherwise swing to and fro.
    price = (price + next) / 2;
  }
  return price;
}

/** Tokens that the batch has bought on their way are sold after all the rest; `supply` is then theirs, too. */
function viaPrice({ reserves, weight, paidIn, tokensIn, price, crossing }: Flow, supply: number): number {
  if (crossing === 0) return price;
  const left = reserves + paidIn - tokensIn * price;
  if (crossing >= supply || left <= 0) return Number.NaN;
  return (-left * Math.expm1(Math.log1p(-crossing / supply) / weight)) / crossing;
}

/** Rounded down as the daemon does: the price to a satoshi, then the amount. */
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
