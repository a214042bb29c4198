/** Explains a stamp step by step, from basket reserves to its USD columns, using the inputs stored with the stamp. */
import { coins, priceInReserve } from './basket-state.ts';
import { formatDecimal, formatPrice, parsePrice, STAMP_DECIMALS, toPrice } from './decimal.ts';
import { getOrInsert } from './get-or-insert.ts';
import { add, divide, larger, multiply, ONE, type Rational, rational, smaller, ZERO } from './rational.ts';
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
  /** Arithmetic over earlier values and stored inputs, amounts in coins; a calculator can evaluate it. */
  readonly expression: string;
  /** Rounded to 30 decimals, except USD columns, which are exact; later steps use the exact number. */
  readonly value: string;
  /** Indexes of the steps whose values the expression reads. */
  readonly uses: readonly number[];
}

interface Known {
  readonly usd: Rational;
  readonly depth: Rational;
  /** Index of the step that computes it. */
  readonly place: number;
}

interface KnownReserve {
  readonly price: Rational;
  readonly place: number;
}

/** USD of a basket token; it has no step of its own. */
interface Token extends Pick<Known, 'usd' | 'depth'> {
  readonly hopDepth: Rational;
  readonly expression: string;
  readonly uses: readonly number[];
}

/** Returns the steps in order of computation, each value before its first use. @throws RangeError when an input is missing */
export function explainStamp(inputs: StampInputs): readonly ExplainedStep[] {
  const steps: ExplainedStep[] = [];
  const known = new Map<PriceInput, Known>();
  const shown = new Map<string, number>();
  const states = new Map(inputs.baskets.map((basket) => [placeOf(basket), basket]));
  for (const price of inputs.prices) explainOnce(price);
  for (const [step, side] of [['from_usd', inputs.from] as const, ['to_usd', inputs.to] as const]) {
    if (side?.usd != null) put(explainColumn(step, side, placesOfPrice(side)));
  }
  if (inputs.noDelivery) explainRates(inputs.noDelivery);
  return steps;

  /** Returns the index of the step. */
  function put(step: ExplainedStep): number {
    return steps.push(step) - 1;
  }

  function placesOfPrice({ currencyId, usd }: SideInput): number[] {
    const price = inputs.prices.find((each) => each.currencyId === currencyId && each.usd === usd);
    return price ? [explainOnce(price).place] : [];
  }

  function explainOnce(price: PriceInput): Known {
    return getOrInsert(known, price, () => explainPrice(price));
  }

  function explainPrice(price: PriceInput): Known {
    const { currencyId, tier } = price;
    if (tier === 0) {
      const place = put({ step: 'anchor', currencyId, basketId: null, expression: '1', value: '1', uses: [] });
      return { usd: ONE, depth: exactly(price.totalDepth), place };
    }
    const entries = price.entries.map((entry) => explainEntry(price, entry));
    const { usd, depth, ...mean } = meanOf(entries);
    const step = { step: 'mean', currencyId, basketId: null, value: print(usd), ...mean } as const;
    const [only, ...others] = mean.uses;
    const place = only === undefined || others.length > 0 ? put(step) : only;
    const deepest = entries.map(({ hopDepth }) => hopDepth).reduce(larger, ZERO);
    return { usd, depth: tier === 1 ? depth : smaller(depth, deepest), place };
  }

  function explainEntry({ currencyId, tier }: PriceInput, entry: EntryInput): Known & { readonly hopDepth: Rational } {
    const basket = states.get(placeOf(entry));
    if (!basket) throw new RangeError(`the state of basket ${entry.basketId} was not kept`);
    const { basketId } = basket;
    const token = entry.hop === null ? anchoredToken(basket) : hoppedToken(basket, entry.hop);
    const isToken = currencyId === basketId || tier === 'nav';
    const reserve = isToken ? null : explainReserve(basket, currencyId);
    const usd = divide(token.usd, reserve?.price ?? ONE);
    const expression = reserve ? `${token.expression} / ${print(reserve.price)}` : token.expression;
    const uses = reserve ? [...token.uses, reserve.place] : token.uses;
    const place = put({ step: 'basket_price', currencyId, basketId, expression, value: print(usd), uses });
    return { usd, depth: token.depth, hopDepth: token.hopDepth, place };
  }

  /** USD of a basket token, from the anchors among its reserves. */
  function anchoredToken(basket: BasketInput): Token {
    const held = basket.reserves.filter(({ currencyId, reserves, weight }) => {
      return inputs.anchors.includes(currencyId) && BigInt(reserves) > 0n && BigInt(weight) > 0n;
    });
    const depth = held.reduce((sum, { reserves }) => add(sum, coins(BigInt(reserves))), ZERO);
    const priced = held.map(({ currencyId, reserves }) => {
      return { ...explainReserve(basket, currencyId), reserves: coins(BigInt(reserves)) };
    });
    const sum = priced.reduce((total, { price, reserves }) => add(total, multiply(price, reserves)), ZERO);
    const terms = priced.map(({ price, reserves }) => `${print(price)} * ${print(reserves)}`).join(' + ');
    const uses = priced.map(({ place }) => place);
    return { usd: divide(sum, depth), depth, hopDepth: ZERO, expression: `(${terms}) / ${print(depth)}`, uses };
  }

  /** USD of a basket token, from one reserve that already has a price. */
  function hoppedToken(basket: BasketInput, hop: string): Token {
    const input = inputs.prices.find(({ currencyId, tier }) => currencyId === hop && tier !== 'nav');
    const reserve = basket.reserves.find(({ currencyId }) => currencyId === hop);
    if (!input || !reserve) throw new RangeError(`the price of ${hop} was not kept`);
    const price = explainOnce(input);
    const held = explainReserve(basket, hop);
    const depth = smaller(price.depth, multiply(price.usd, coins(BigInt(reserve.reserves))));
    const expression = `${print(price.usd)} * ${print(held.price)}`;
    const uses = [price.place, held.place];
    return { usd: multiply(price.usd, held.price), depth, hopDepth: price.depth, expression, uses };
  }

  /** Explains the two rates that were compared, each in units received for one unit given. */
  function explainRates(input: NoDeliveryInput): void {
    const { basketId, fromCurrencyId, toCurrencyId: currencyId } = input;
    const basket = states.get(placeOf(input));
    if (!basket) throw new RangeError(`the state of basket ${basketId} was not kept`);
    const inBasket = (id: string) => (id === basketId ? null : explainReserve(basket, id));
    const [from, to] = [inBasket(fromCurrencyId), inBasket(currencyId)];
    const [given, got] = [from?.price ?? ONE, to?.price ?? ONE];
    const uses = [to, from].flatMap((reserve) => reserve?.place ?? []);
    const market = { expression: `${print(got)} / ${print(given)}`, value: print(divide(got, given)), uses };
    put({ step: 'market_rate', currencyId, basketId, ...market });
    const [paid, amountIn] = [coins(BigInt(input.expectedOut)), coins(BigInt(input.amountIn))];
    const executed = { expression: `${print(paid)} / ${print(amountIn)}`, value: print(divide(paid, amountIn)) };
    put({ step: 'executed_rate', currencyId, basketId, ...executed, uses: [] });
  }

  function explainReserve(basket: BasketInput, currencyId: string): KnownReserve {
    const { step, price } = reservePrice(basket, currencyId);
    const key = `${basket.basketId} ${currencyId}`;
    return { price, place: getOrInsert(shown, key, () => put(step)) };
  }
}

/** Mean of prices, weighted by depth. */
function meanOf(entries: readonly Known[]) {
  const depth = entries.reduce((sum, entry) => add(sum, entry.depth), ZERO);
  const weighted = entries.reduce((sum, entry) => add(sum, multiply(entry.usd, entry.depth)), ZERO);
  const terms = entries.map((entry) => `${print(entry.usd)} * ${print(entry.depth)}`).join(' + ');
  const expression = `(${terms}) / ${print(depth)}`;
  return { usd: divide(weighted, depth), depth, expression, uses: entries.map(({ place }) => place) };
}

/** The price of a basket token in one of its reserves. @throws RangeError when it has none */
function reservePrice({ basketId, supply, reserves }: BasketInput, currencyId: string) {
  const held = reserves.find((reserve) => reserve.currencyId === currencyId);
  if (!held) throw new RangeError(`${currencyId} is no reserve of ${basketId}`);
  const price = priceInReserve(
    { supply: BigInt(supply) },
    { reserves: BigInt(held.reserves), weight: BigInt(held.weight) },
  );
  if (!price) throw new RangeError(`${currencyId} has no price in ${basketId}`);
  const [amount, all, weight] = [held.reserves, supply, held.weight].map((satoshis) => print(coins(BigInt(satoshis))));
  const expression = `${amount} / (${all} * ${weight})`;
  const value = print(price);
  const step: ExplainedStep = { step: 'price_in_reserve', currencyId, basketId, expression, value, uses: [] };
  return { step, price };
}

function explainColumn(
  step: 'from_usd' | 'to_usd',
  { currencyId, amount, usd }: SideInput,
  uses: readonly number[],
): ExplainedStep {
  const price = usd ?? '0';
  const value = formatDecimal(BigInt(amount) * parsePrice(price), STAMP_DECIMALS);
  return { step, currencyId, basketId: null, expression: `${print(coins(BigInt(amount)))} * ${price}`, value, uses };
}

const placeOf = ({ chain, basketId }: { readonly chain: string; readonly basketId: string }) => `${chain} ${basketId}`;

function exactly(price: string): Rational {
  return rational(parsePrice(price), parsePrice('1'));
}

function print(exact: Rational): string {
  return formatPrice(toPrice(exact));
}
