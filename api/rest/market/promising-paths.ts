/**
 * Selects the routes worth a daemon call: those with the largest output by the indexed reserves, including slippage and fees but no
 * pending conversions. The daemon's estimate then decides.
 */

import { descending } from '../../../domain/order.ts';
import type { ReserveBalance } from '../../../domain/reserves.ts';
import { SATOSHIS_PER_COIN as COIN } from '../../../domain/satoshi.ts';
import type { ConversionRoute, Leg } from './conversion-paths.ts';

/** 0.025 % of each conversion; a conversion from reserve to reserve is two. */
const fee = (amount: bigint) => (amount * 25_000n) / COIN;

/** Satoshis of a reserve for a whole token, rounded down like the daemon's prices. */
const price = (reserves: number, tokens: number) => BigInt(Math.floor((reserves * Number(COIN)) / tokens));

/** (1 + part / whole) ^ exponent − 1 */
const growth = (part: bigint, whole: bigint, exponent: number) =>
  Math.expm1(exponent * Math.log1p(Number(part) / Number(whole)));

const shareOf = ({ weight }: ReserveBalance) => Number(weight) / Number(COIN);

function tokensFor(paid: bigint, supply: bigint, reserve: ReserveBalance): bigint {
  const issued = Number(supply) * growth(paid, reserve.reserves, shareOf(reserve));
  const cost = price(Number(paid), issued);
  return cost > 0n ? (paid * COIN) / cost : 0n;
}

function reservesFor(tokens: bigint, supply: bigint, reserve: ReserveBalance): bigint {
  const all = Number(reserve.reserves);
  const released = tokens >= supply ? all : -all * growth(-tokens, supply, 1 / shareOf(reserve));
  return (tokens * price(released, Number(tokens))) / COIN;
}

/** Satoshis of `to` for satoshis of `from`. */
function expectedOfLeg({ basket, from, to }: Leg, amount: bigint): bigint {
  const reserve = (id: string) => basket.reserves.find(({ currencyId }) => currencyId === id);
  const [source, target] = [reserve(from), reserve(to)];
  const net = amount - (source && target ? 2n : 1n) * fee(amount);
  if (net <= 0n) return 0n;
  const tokens = source ? tokensFor(net, basket.supply, source) : net;
  if (!target || tokens <= 0n) return tokens;
  // The first half of a conversion from reserve to reserve issues the tokens that the second half burns.
  return reservesFor(tokens, source ? basket.supply + tokens : basket.supply, target);
}

export interface PromisingRoute {
  readonly route: ConversionRoute;
  /** Satoshis. */
  readonly expected: bigint;
}

/** First hops to one currency that are extended by a second hop. A larger input never gives a smaller output, so the best ones suffice. */
const FIRST_HOPS = 3;

/** The best `most` routes by expected output, largest first; of equal routes the shorter one comes first. */
export function promisingRoutes(routes: readonly ConversionRoute[], amount: bigint, most: number): PromisingRoute[] {
  const afterFirst = new Map<Leg, bigint>();
  for (const [first] of routes) {
    if (!afterFirst.has(first)) afterFirst.set(first, expectedOfLeg(first, amount));
  }
  const held = (leg: Leg) => afterFirst.get(leg) ?? 0n;
  const best = new Set(
    [...Map.groupBy(afterFirst.keys(), ({ to }) => to).values()].flatMap((legs) =>
      legs.sort((a, b) => descending(held(a), held(b))).slice(0, FIRST_HOPS),
    ),
  );
  return routes
    .filter(([first, second]) => second === undefined || best.has(first))
    .map((route) => {
      const [first, second] = route;
      return { route, expected: second ? expectedOfLeg(second, held(first)) : held(first) };
    })
    .sort((a, b) => descending(a.expected, b.expected) || a.route.length - b.route.length)
    .slice(0, most);
}
