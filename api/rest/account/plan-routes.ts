/** /api/usage/plan: the cost of planned calls, from the table that the gate charges by. */
import { type AccessTier, TIERS } from '../../../schemas/config.ts';
import { LOWEST_TIER } from '../../access/key-store.ts';
import { type ApiError, invalidParameters } from '../../http/api-error.ts';
import { liveRoute, type Method, methodOf, type Route } from '../../http/route.ts';
import { STREAM_PATHS } from '../../push/paths.ts';
import { rpcCredits, rpcMethod } from '../../rpc/methods/method-table.ts';
import { RPC_TEMPLATE } from '../../rpc/template.ts';
import type { Typed } from '../../schema/json-schema.ts';
import { plan, planRequest } from './usage-schema.ts';

type PlannedCall = NonNullable<Typed<typeof planRequest>['calls']>[number];

interface Price {
  readonly method: Method;
  readonly path: string;
  readonly credits: number;
  readonly tier: AccessTier | null;
}

/** Number of parameters to assume; it matters for getidentityhistory only, which the daemon answers when there are none. */
const RPC_PARAMETERS = 1;

/** `listed` returns the route table lazily because the table contains this route too. */
export function planRoute(listed: () => readonly Route[]) {
  return liveRoute({
    path: '/api/usage/plan',
    method: 'POST',
    summary: 'What a plan of calls costs a minute, and the tiers that it fits into',
    parameters: {},
    body: planRequest,
    response: plan,
    weight: 1,
    cache: 'none',
    ofAccount: true,
    async handler({ api, body }) {
      const calls = body.calls.map((call, index) => priced(listed(), call, index));
      const sum = (values: readonly number[]) => values.reduce((all, value) => all + value, 0);
      const credits = sum(calls.map((call) => call.creditsPerMinute));
      const requests = roundedUp(sum(calls.map((call) => call.perMinute)));
      const lacks = (tier: AccessTier): 'tier' | 'credits' | null => {
        if (calls.some((call) => call.tier !== null && TIERS.indexOf(call.tier) > TIERS.indexOf(tier))) return 'tier';
        return credits > api.config.tiers[tier].creditsPerMinute ? 'credits' : null;
      };
      const tiers = TIERS.map((tier) => {
        const lacking = lacks(tier);
        const { creditsPerMinute } = api.config.tiers[tier];
        return { tier, creditsPerMinute, fits: lacking === null, lacks: lacking };
      });
      // Without a key, JSON-RPC calls are charged to the network as requests, not as credits.
      const ofNetwork = sum(calls.filter(({ rpc }) => rpc === null).map((call) => call.creditsPerMinute));
      const withoutKey =
        calls.every(({ tier }) => tier === null) &&
        requests <= api.config.keylessRequestsPerMinute &&
        ofNetwork <= api.config.tiers[LOWEST_TIER].creditsPerMinute;
      return { body: { calls, creditsPerMinute: credits, requestsPerMinute: requests, withoutKey, tiers } };
    },
  });
}

function priced(routes: readonly Route[], call: PlannedCall, index: number) {
  const at = `/calls/${index}`;
  if ((call.path === undefined) === (call.rpc === undefined)) throw refused(at, 'a call has either path or rpc');
  if ((call.perSecond === undefined) === (call.perMinute === undefined)) {
    throw refused(at, 'a call has either perSecond or perMinute');
  }
  const perMinute = call.perMinute === undefined ? Number(call.perSecond) * 60 : Number(call.perMinute);
  const price = call.rpc === undefined ? priceOfPath(routes, call, at) : priceOfRpc(call.rpc, at);
  return { ...price, rpc: call.rpc ?? null, perMinute, creditsPerMinute: roundedUp(perMinute * price.credits) };
}

function priceOfRpc(name: string, at: string): Price {
  if (!rpcMethod(name)) throw refused(`${at}/rpc`, `${name} is not a method that is served`);
  return { method: 'POST', path: RPC_TEMPLATE, credits: rpcCredits(name, RPC_PARAMETERS), tier: null };
}

function priceOfPath(routes: readonly Route[], { path = '', method = 'GET' }: PlannedCall, at: string): Price {
  const asked = path.replace(/[?#].*$/s, '');
  if (method === 'GET' && STREAM_PATHS.includes(asked)) return { method, path: asked, credits: 1, tier: null };
  const fitting = routes.filter((route) => methodOf(route) === method && matches(route.path, asked));
  // Like the router, prefer a path with literal parts to one with parameters.
  const [route] = fitting.toSorted((a, b) => parametersIn(a.path) - parametersIn(b.path));
  if (!route) throw refused(`${at}/path`, `there is no ${method} ${asked}: /api/ lists all paths`);
  return { method, path: route.path, credits: route.weight, tier: route.tier ?? null };
}

const parametersIn = (path: string): number => path.split('/:').length;
const partsOf = (path: string): string[] => path.replace(/\/$/, '').split('/');

function matches(pattern: string, path: string): boolean {
  const [patternParts, parts] = [partsOf(pattern), partsOf(path)];
  return (
    patternParts.length === parts.length &&
    patternParts.every((part, index) => part === parts[index] || (part.startsWith(':') && parts[index] !== ''))
  );
}

/** Rounds up, but ignores the floating-point error of a sum of decimals. */
const roundedUp = (value: number): number => Math.ceil(Math.round(value * 1e6) / 1e6);

function refused(pointer: string, detail: string): ApiError {
  return invalidParameters([{ pointer, detail }]);
}
