/** The best way to convert an amount on a chain. */
import { coins, ratio } from '../../http/values.ts';
import type { Currencies } from '../../state/currency-directory.ts';
import { midRateOf, routesBetween } from './conversion-paths.ts';
import { type EstimatedRoute, type Estimator, estimateRoutes } from './estimate-paths.ts';
import type { LiveBasket } from './live-baskets.ts';

export interface ConversionRequest {
  /** i-addresses. */
  readonly from: string;
  readonly to: string;
  /** Satoshis. */
  readonly amount: bigint;
}

export interface Conversions {
  /** Live baskets of the chain. */
  readonly baskets: readonly LiveBasket[];
  readonly currencies: Currencies;
  readonly daemon: Estimator;
}

const share = (part: bigint | undefined, whole: bigint | undefined) => Number(part) / Number(whole);

/** Share of the output that is lost against the mid prices, without fees; 8 decimals. */
function slippageOf({ route, estimates, output }: EstimatedRoute, amount: bigint): number {
  if (output === 0n) return 1;
  const inputs = [amount, ...estimates.map((made) => made.output)];
  const net = route.reduce((kept, _leg, index) => kept * share(estimates[index]?.net, inputs[index]), 1);
  return roundTo8(1 - Number(output) / (Number(amount) * net * midRateOf(route)));
}

const roundTo8 = (value: number) => Math.round(value * 1e8) / 1e8;

function sidesOf({ from, to, amount }: ConversionRequest, currencies: Currencies) {
  const name = (id: string) => currencies.name(id) ?? id;
  return { from: name(from), fromId: from, to: name(to), toId: to, amount: coins(amount) };
}

function routeAnswer(made: EstimatedRoute, amount: bigint, currencies: Currencies) {
  const { route, estimates, output } = made;
  const inputs = [amount, ...estimates.map((one) => one.output)];
  const name = (id: string) => currencies.name(id) ?? id;
  const legs = route.map((leg, index) => {
    const input = inputs[index] ?? 0n;
    return {
      basket: leg.basket.name,
      basketId: leg.basket.currencyId,
      from: name(leg.from),
      fromId: leg.from,
      to: name(leg.to),
      toId: leg.to,
      fee: coins(input - (estimates[index]?.net ?? input)),
    };
  });
  const [{ basket }, second] = route;
  return {
    basket: basket.name,
    basketId: basket.currencyId,
    via: second ? name(second.from) : null,
    hops: route.length,
    output: coins(output),
    rate: ratio(output, amount),
    slippage: slippageOf(made, amount),
    fees: legs.map(({ fromId, from, fee }) => ({ currencyId: fromId, currencyName: from, amount: fee })),
    legs,
  };
}

/** Returns null when no basket converts `from` into `to`. @throws Daemon… errors */
export async function bestConversion(request: ConversionRequest, { baskets, currencies, daemon }: Conversions) {
  const { from, to, amount } = request;
  const estimated = await estimateRoutes(daemon, routesBetween(baskets, from, to), amount);
  const routes = estimated.map((route) => routeAnswer(route, amount, currencies));
  const [best] = routes;
  return best ? { ...sidesOf(request, currencies), best, routes } : null;
}

/** Estimates through the single basket with the largest output; null when no basket converts. @throws Daemon… errors */
export async function estimateConversion(request: ConversionRequest, { baskets, currencies, daemon }: Conversions) {
  const { from, to, amount } = request;
  const direct = routesBetween(baskets, from, to).filter((route) => route.length === 1);
  const [best] = await estimateRoutes(daemon, direct, amount);
  const estimate = best?.estimates[0];
  if (!best || !estimate) return null;
  const [{ basket }] = best.route;
  return {
    ...sidesOf(request, currencies),
    via: basket.currencyId === from || basket.currencyId === to ? null : basket.name,
    estimatedOut: coins(estimate.output),
    netInput: coins(estimate.net),
    rate: ratio(estimate.output, amount),
    feePct: roundTo8(100 * share(amount - estimate.net, amount)),
    basket: basket.name,
    basketId: basket.currencyId,
    slippagePct: roundTo8(100 * slippageOf(best, amount)),
  };
}
