/** The best way to convert an amount on a chain, each way estimated by the chain's daemon with what is pending there. */
import { DaemonRpcError } from '../../infra/verusd/daemon-errors.ts';
import type { VerusdClient } from '../../infra/verusd/verusd-client.ts';
import { coinsToSatoshis, type ExactNumber, satoshisToCoins } from '../../schemas/satoshi.ts';
import { coins, ratio } from '../http/values.ts';
import type { Currencies } from '../state/currency-directory.ts';
import { type Leg, midRateOf, type Route, routesBetween } from './conversion-routes.ts';
import type { LiveBasket } from './live-baskets.ts';

export interface ConversionRequest {
  /** i-addresses. */
  readonly from: string;
  readonly to: string;
  /** Satoshis. */
  readonly amount: bigint;
}

export interface Conversions {
  /** Live ones of the chain. */
  readonly baskets: readonly LiveBasket[];
  readonly currencies: Currencies;
  readonly daemon: Pick<VerusdClient, 'call'>;
}

interface Estimate {
  /** Satoshis of `from` that are left after the conversion fee. */
  readonly net: bigint;
  readonly output: bigint;
}

interface Estimated {
  readonly route: Route;
  readonly estimates: readonly Estimate[];
  readonly output: bigint;
}

/** Daemon calls are what a route costs: the best few by mid price are asked for. */
const MOST_DIRECT = 6;
const MOST_TWO_HOPS = 3;
const TIMEOUT_MS = 10_000;

/** Null where the daemon refuses: a basket may not convert right now. @throws Daemon… errors */
async function estimate(daemon: Conversions['daemon'], leg: Leg, amount: bigint): Promise<Estimate | null> {
  const { basket, from: currency, to: convertto } = leg;
  const isVia = basket.currencyId !== currency && basket.currencyId !== convertto;
  const transfer = { currency, convertto, amount: satoshisToCoins(amount), ...(isVia && { via: basket.currencyId }) };
  try {
    const answer = await daemon.call('estimateconversion', [transfer], { timeoutMs: TIMEOUT_MS });
    const said = answer as { readonly netinputamount: ExactNumber; readonly estimatedcurrencyout: ExactNumber };
    return { net: coinsToSatoshis(said.netinputamount), output: coinsToSatoshis(said.estimatedcurrencyout) };
  } catch (error) {
    if (error instanceof DaemonRpcError) return null;
    throw error;
  }
}

/** Null for a route on which something refuses or nothing comes out. */
async function estimateRoute(daemon: Conversions['daemon'], route: Route, amount: bigint): Promise<Estimated | null> {
  const estimates: Estimate[] = [];
  let output = amount;
  for (const leg of route) {
    const made = await estimate(daemon, leg, output);
    if (!made || made.output <= 0n) return null;
    estimates.push(made);
    output = made.output;
  }
  return { route, estimates, output };
}

function routeAnswer({ route, estimates, output }: Estimated, amount: bigint, currencies: Currencies) {
  const inputs = [amount, ...estimates.map((made) => made.output)];
  const legs = route.map((leg, index) => {
    const input = inputs[index] ?? 0n;
    return {
      basket: leg.basket.name,
      basketId: leg.basket.currencyId,
      from: currencies.name(leg.from),
      fromId: leg.from,
      to: currencies.name(leg.to),
      toId: leg.to,
      fee: coins(input - (estimates[index]?.net ?? input)),
    };
  });
  const [{ basket }, second] = route;
  const net = route.reduce((kept, _leg, index) => kept * share(estimates[index]?.net, inputs[index]), 1);
  return {
    basket: basket.name,
    basketId: basket.currencyId,
    via: second ? currencies.name(second.from) : null,
    hops: route.length,
    output: coins(output),
    rate: ratio(output, amount),
    slippage: 1 - Number(output) / (Number(amount) * net * midRateOf(route)),
    fees: legs.map(({ fromId, from, fee }) => ({ currencyId: fromId, currencyName: from, amount: fee })),
    legs,
  };
}

const share = (part: bigint | undefined, whole: bigint | undefined) => Number(part) / Number(whole);

/** Null when no basket converts the one into the other. @throws Daemon… errors */
export async function bestConversion({ from, to, amount }: ConversionRequest, given: Conversions) {
  const { baskets, currencies, daemon } = given;
  const routes = routesBetween(baskets, from, to);
  const direct = routes.filter((route) => route.length === 1).slice(0, MOST_DIRECT);
  const twoHops = routes.filter((route) => route.length === 2).slice(0, MOST_TWO_HOPS);
  const made = await Promise.all([...direct, ...twoHops].map((route) => estimateRoute(daemon, route, amount)));
  const estimated = made.filter((route) => route !== null).sort((a, b) => (a.output < b.output ? 1 : -1));
  const [best] = estimated;
  if (!best) return null;
  const answers = estimated.map((route) => routeAnswer(route, amount, currencies));
  return {
    from: currencies.name(from),
    fromId: from,
    to: currencies.name(to),
    toId: to,
    amount: coins(amount),
    best: answers[0],
    routes: answers,
  };
}
