/** What a route brings, each hop estimated by the chain's daemon with what is pending there. */
import { DaemonRpcError } from '../../infra/verusd/daemon-errors.ts';
import type { VerusdClient } from '../../infra/verusd/verusd-client.ts';
import { coinsToSatoshis, type ExactNumber, satoshisToCoins } from '../../schemas/satoshi.ts';
import { RPC_CODES } from '../../schemas/verusd/rpc-envelope.ts';
import type { Leg, Route } from './conversion-routes.ts';

export type Estimator = Pick<VerusdClient, 'call'>;

export interface Estimate {
  /** Satoshis of `from` that are left after the conversion fee. */
  readonly net: bigint;
  readonly output: bigint;
}

export interface EstimatedRoute {
  readonly route: Route;
  /** One of each hop. */
  readonly estimates: readonly Estimate[];
  readonly output: bigint;
}

const TIMEOUT_MS = 10_000;

/** Null where the daemon says that it does not convert: a basket may be closed right now. @throws Daemon… errors */
async function estimateLeg(daemon: Estimator, leg: Leg, amount: bigint): Promise<Estimate | null> {
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

/** Null for a route on which something refuses or nothing comes out. */
async function estimateRoute(daemon: Estimator, route: Route, amount: bigint): Promise<EstimatedRoute | null> {
  const estimates: Estimate[] = [];
  let output = amount;
  for (const leg of route) {
    const made = await estimateLeg(daemon, leg, output);
    if (!made || made.output <= 0n) return null;
    estimates.push(made);
    output = made.output;
  }
  return { route, estimates, output };
}

/**
 * Largest output first. A route that fails is left out as long as another one answers: the daemon speaks for each basket.
 * @throws Daemon… errors when none answers and one failed
 */
export async function estimateRoutes(
  daemon: Estimator,
  routes: readonly Route[],
  amount: bigint,
): Promise<EstimatedRoute[]> {
  const settled = await Promise.allSettled(routes.map((route) => estimateRoute(daemon, route, amount)));
  const made = settled.flatMap((one) => (one.status === 'fulfilled' && one.value ? [one.value] : []));
  const failure = settled.find((one) => one.status === 'rejected');
  if (made.length === 0 && failure) throw failure.reason;
  return made.sort((a, b) => (a.output < b.output ? 1 : a.output > b.output ? -1 : 0));
}
