/** Explains a stamp step by step, from the reserves of the baskets to its USD columns, computed from the inputs stored with it. */
import { coins, priceInReserve } from './basket-state.ts';
import { formatDecimal, formatPrice, parsePrice, STAMP_DECIMALS, toPrice } from './decimal.ts';
import { add, compare, divide, multiply, ONE, type Rational, rational, smaller, ZERO } from './rational.ts';
import type { BasketInput, EntryInput, NoDeliveryInput, PriceInput, SideInput, StampInputs } from './stamp-inputs.ts';

export const EXPLAINED_STEPS = [
  'anchor',
  'price_in_reserve',
  'basket_price',
  'mean',
  'from_usd',
  'to_usd',
  'market_rate',
  'executed_rate',
] as const;

export interface ExplainedStep {
  readonly step: (typeof EXPLAINED_STEPS)[number];
  readonly currencyId: string;
  /** Basket that the step reads. */
  readonly basketId: string | null;
  /** Arithmetic of earlier values and stored inputs, amounts in coins; a calculator can evaluate it. */
  readonly expression: string;
  /** Rounded to 30 decimals, USD columns exact; later steps use the exact number. */
  readonly value: string;
}

interface Known {
  readonly usd: Rational;
  readonly depth: Rational;
}

/** Steps in the order of computation, each value before its first use. @throws RangeError when an input is missing */
export function explainStamp(inputs: StampInputs): readonly ExplainedStep[] {
  const steps: ExplainedStep[] = [];
  const known = new Map<PriceInput, Known>();
  const shown = new Set<string>();
  const states = new Map(inputs.baskets.map((basket) => [placeOf(basket), basket]));
  for (const price of inputs.prices) explainOnce(price);
  for (const [step, side] of [['from_usd', inputs.from] as const, ['to_usd', inputs.to] as const]) {
    if (side?.usd != null) steps.push(explainColumn(step, side));
  }
  if (inputs.noDelivery) explainRates(inputs.noDelivery);
  return steps;

  function explainOnce(price: PriceInput): Known {
    const done = known.get(price) ?? explainPrice(price);
    known.set(price, done);
    return done;
  }

  function explainPrice(price: PriceInput): Known {
    const { currencyId, tier } = price;
    if (tier === 0) {
      steps.push({ step: 'anchor', currencyId, basketId: null, expression: '1', value: '1' });
      return { usd: ONE, depth: exactly(price.totalDepth) };
    }
    const entries = price.entries.map((entry) => explainEntry(price, entry));
    const depth = entries.reduce((sum, entry) => add(sum, entry.depth), ZERO);
    const usd = divide(
      entries.reduce((sum, entry) => add(sum, multiply(entry.usd, entry.depth)), ZERO),
      depth,
    );
    if (entries.length > 1) {
      const terms = entries.map((entry) => `${print(entry.usd)} * ${print(entry.depth)}`).join(' + ');
      const expression = `(${terms}) / ${print(depth)}`;
      steps.push({ step: 'mean', currencyId, basketId: null, expression, value: print(usd) });
    }
    const deepest = entries.reduce(
      (largest, { hopDepth }) => (compare(hopDepth, largest) > 0 ? hopDepth : largest),
      ZERO,
    );
    return { usd, depth: tier === 1 ? depth : smaller(depth, deepest) };
  }

  function explainEntry({ currencyId, tier }: PriceInput, entry: EntryInput): Known & { readonly hopDepth: Rational } {
    const basket = states.get(placeOf(entry));
    if (!basket) throw new RangeError(`the state of basket ${entry.basketId} was not kept`);
    const { basketId } = basket;
    const token = entry.hop === null ? anchoredToken(basket) : hoppedToken(basket, entry.hop);
    const isToken = currencyId === basketId || tier === 'nav';
    const pir = isToken ? ONE : explainReserve(basket, currencyId);
    const usd = divide(token.usd, pir);
    const expression = isToken ? token.expression : `${token.expression} / ${print(pir)}`;
    steps.push({ step: 'basket_price', currencyId, basketId, expression, value: print(usd) });
    return { usd, depth: token.depth, hopDepth: token.hopDepth };
  }

  /** USD of a basket token, from the anchors among its reserves. */
  function anchoredToken(basket: BasketInput) {
    const held = basket.reserves.filter(({ currencyId, reserves, weight }) => {
      return inputs.anchors.includes(currencyId) && BigInt(reserves) > 0n && BigInt(weight) > 0n;
    });
    const depth = held.reduce((sum, { reserves }) => add(sum, coins(BigInt(reserves))), ZERO);
    const priced = held.map(({ currencyId, reserves }) => {
      return { pir: explainReserve(basket, currencyId), reserves: coins(BigInt(reserves)) };
    });
    const sum = priced.reduce((total, { pir, reserves }) => add(total, multiply(pir, reserves)), ZERO);
    const terms = priced.map(({ pir, reserves }) => `${print(pir)} * ${print(reserves)}`).join(' + ');
    return { usd: divide(sum, depth), depth, hopDepth: ZERO, expression: `(${terms}) / ${print(depth)}` };
  }

  /** USD of a basket token, from one reserve that already has a price. */
  function hoppedToken(basket: BasketInput, hop: string) {
    const input = inputs.prices.find(({ currencyId, tier }) => currencyId === hop && tier !== 'nav');
    const reserve = basket.reserves.find(({ currencyId }) => currencyId === hop);
    if (!input || !reserve) throw new RangeError(`the price of ${hop} was not kept`);
    const price = explainOnce(input);
    const pir = explainReserve(basket, hop);
    const depth = smaller(price.depth, multiply(price.usd, coins(BigInt(reserve.reserves))));
    const expression = `${print(price.usd)} * ${print(pir)}`;
    return { usd: multiply(price.usd, pir), depth, hopDepth: price.depth, expression };
  }

  /** The two rates that were compared: units received for one unit given. */
  function explainRates(input: NoDeliveryInput): void {
    const { basketId, fromCurrencyId, toCurrencyId: currencyId } = input;
    const basket = states.get(placeOf(input));
    if (!basket) throw new RangeError(`the state of basket ${basketId} was not kept`);
    const inBasket = (id: string) => (id === basketId ? ONE : explainReserve(basket, id));
    const [from, to] = [inBasket(fromCurrencyId), inBasket(currencyId)];
    const market = { expression: `${print(to)} / ${print(from)}`, value: print(divide(to, from)) };
    steps.push({ step: 'market_rate', currencyId, basketId, ...market });
    const [paid, given] = [coins(BigInt(input.expectedOut)), coins(BigInt(input.amountIn))];
    const executed = { expression: `${print(paid)} / ${print(given)}`, value: print(divide(paid, given)) };
    steps.push({ step: 'executed_rate', currencyId, basketId, ...executed });
  }

  function explainReserve(basket: BasketInput, currencyId: string): Rational {
    const { step, exact } = reservePrice(basket, currencyId);
    const place = `${basket.basketId} ${currencyId}`;
    if (!shown.has(place)) steps.push(step);
    shown.add(place);
    return exact;
  }
}

/** The price of a basket in one of its reserves. @throws RangeError when it has none */
function reservePrice({ basketId, supply, reserves }: BasketInput, currencyId: string) {
  const held = reserves.find((reserve) => reserve.currencyId === currencyId);
  if (!held) throw new RangeError(`${currencyId} is no reserve of ${basketId}`);
  const exact = priceInReserve(
    { supply: BigInt(supply) },
    { reserves: BigInt(held.reserves), weight: BigInt(held.weight) },
  );
  if (!exact) throw new RangeError(`${currencyId} has no price in ${basketId}`);
  const [amount, all, weight] = [held.reserves, supply, held.weight].map((satoshis) => print(coins(BigInt(satoshis))));
  const expression = `${amount} / (${all} * ${weight})`;
  const step: ExplainedStep = { step: 'price_in_reserve', currencyId, basketId, expression, value: print(exact) };
  return { step, exact };
}

function explainColumn(step: 'from_usd' | 'to_usd', { currencyId, amount, usd }: SideInput): ExplainedStep {
  const price = usd ?? '0';
  const value = formatDecimal(BigInt(amount) * parsePrice(price), STAMP_DECIMALS);
  return { step, currencyId, basketId: null, expression: `${print(coins(BigInt(amount)))} * ${price}`, value };
}

const placeOf = ({ chain, basketId }: { readonly chain: string; readonly basketId: string }) => `${chain} ${basketId}`;

function exactly(price: string): Rational {
  return rational(parsePrice(price), parsePrice('1'));
}

function print(exact: Rational): string {
  return formatPrice(toPrice(exact));
}
