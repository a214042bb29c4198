/** Output of the most promising routes; the chain's daemon estimates each hop and includes pending conversions. */

import { getOrInsert } from '../../../domain/get-or-insert.ts';
import { descending } from '../../../domain/order.ts';
import { coinsToSatoshis, type ExactNumber, satoshisToCoins } from '../../../domain/satoshi.ts';
import { DaemonRpcError } from '../../../infra/verusd/daemon-errors.ts';
import type { VerusdClient } from '../../../infra/verusd/verusd-client.ts';
import { RPC_CODES } from '../../../schemas/verusd/rpc-envelope.ts';
import type { ConversionRoute, Leg } from './conversion-paths.ts';
import { promisingRoutes } from './promising-paths.ts';

export type Estimator = Pick<VerusdClient, 'call'>;

export interface Estimate {
  /** Satoshis of `from` that are left after the conversion fee. */
  readonly net: bigint;
  readonly output: bigint;
}

export interface EstimatedRoute {
  readonly route: ConversionRoute;
  /** One estimate per hop. */
  readonly estimates: readonly Estimate[];
  readonly output: bigint;
}

const TIMEOUT_MS = 10_000;
/** Most routes to estimate at once, and in all: daemon calls dominate the cost of a request. */
const AT_ONCE = 6;
const MOST_ROUTES = 12;
/** A route is skipped if its expected output is over 1 % below a known one. The margin exists because pending conversions move prices. */
const MARGIN = 100n;
const MARGIN_SATOSHIS = 2n;

type EstimateLeg = (leg: Leg, amount: bigint) => Promise<Estimate | null>;

/** Asks once per leg and amount, since routes share first legs. Returns null if the daemon reports that the basket cannot convert now. */
function createEstimateLeg(daemon: Estimator): EstimateLeg {
  const asked = new Map<string, Promise<Estimate | null>>();
  return (leg, amount) => {
    const key = `${leg.basket.currencyId} ${leg.from} ${leg.to} ${amount}`;
    return getOrInsert(asked, key, () => askFor(daemon, leg, amount));
  };
}

/** @throws Daemon… errors */
async function askFor(daemon: Estimator, leg: Leg, amount: bigint): Promise<Estimate | null> {
  const { basket, from: currency, to: convertto } = leg;
  const isVia = basket.currencyId !== currency && basket.currencyId !== convertto;
  const transfer = { currency, convertto, amount: satoshisToCoins(amount), ...(isVia && { via: basket.currencyId }) };
  try {
    const answer = await daemon.call('estimateconversion', [transfer], { timeoutMs: TIMEOUT_MS });
    const said = answer as { readonly netinputamount: ExactNumber; readonly estimatedcurrencyout: ExactNumber };
    return { net: coinsToSatoshis(said.netinputamount), output: coinsToSatoshis(said.estimatedcurrencyout) };
  } catch (error) {
    if (error instanceof DaemonRpcError && error.rpcCode === RPC_CODES.invalidParameter) return null;
    throw error;
  }
}

/** Returns null when a basket of the route refuses. */
async function estimateRoute(
  estimateLeg: EstimateLeg,
  route: ConversionRoute,
  amount: bigint,
): Promise<EstimatedRoute | null> {
  const estimates: Estimate[] = [];
  let output = amount;
  for (const leg of route) {
    // The daemon refuses an amount of zero, whose output is zero anyway.
    const made = output > 0n ? await estimateLeg(leg, output) : { net: 0n, output: 0n };
    if (!made) return null;
    estimates.push(made);
    output = made.output;
  }
  return { route, estimates, output };
}

/**
 * Returns routes by output, largest first. Routes are estimated in the order of their expected output, until none of the rest can win.
 * A route that fails is left out if another one has an answer.
 * @throws Daemon… errors when no route has an answer and at least one failed
 */
export async function estimateRoutes(
  daemon: Estimator,
  routes: readonly ConversionRoute[],
  amount: bigint,
): Promise<EstimatedRoute[]> {
  const estimateLeg = createEstimateLeg(daemon);
  const candidates = promisingRoutes(routes, amount, MOST_ROUTES);
  const made: EstimatedRoute[] = [];
  let failure: { readonly reason: unknown } | undefined;
  for (let next = 0; next < candidates.length; next += AT_ONCE) {
    const mayWin = (expected: bigint) =>
      made.every(({ output }) => expected + expected / MARGIN + MARGIN_SATOSHIS > output);
    const wave = candidates.slice(next, next + AT_ONCE).filter(({ expected }) => mayWin(expected));
    if (wave.length === 0) break;
    for (const one of await Promise.allSettled(wave.map(({ route }) => estimateRoute(estimateLeg, route, amount)))) {
      if (one.status === 'rejected') failure ??= one;
      else if (one.value) made.push(one.value);
    }
  }
  if (made.length === 0 && failure) throw failure.reason;
  return made.sort((a, b) => descending(a.output, b.output) || a.route.length - b.route.length);
}
