/** Registers the route table with uWebSockets.js: patterns, methods, parameters. */

import { LEAST_CREDITS } from '../access/bills.ts';
import type { ApiContext } from '../api-context.ts';
import { memoize } from '../state/memoize.ts';
import { type AnswerOptions, answerRoute, preparedReply, type RequestInfo, type RouteRequest } from './answer-route.ts';
import { ApiError } from './api-error.ts';
import { type Answerer, type ExchangeOptions, handleRequest } from './exchange.ts';
import { always, refusing } from './fixed-answers.ts';
import type { FramedRoutes, Handler } from './framed-routes.ts';
import { headerLines, NO_LINES } from './header-lines.ts';
import { compileBody } from './json-body.ts';
import { sharedParameters } from './numbers.ts';
import { compileParameters } from './parameters.ts';
import { PREFLIGHT_HEADERS, type Reply, writeWithoutBody } from './reply.ts';
import { type AnsweredRoute, isStreamed, methodOf } from './route.ts';

export interface DispatcherOptions extends AnswerOptions, ExchangeOptions {
  readonly api: ApiContext;
}

/** Validated requests that are cached for each route. */
const MEMOIZED = 200;

export function registerRoutes(app: FramedRoutes, routes: readonly AnsweredRoute[], options: DispatcherOptions): void {
  for (const [path, atPath] of Map.groupBy(routes, (route) => route.path)) {
    const methods = atPath.map(methodOf);
    const allow = [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].join(', ');
    const refused = { template: path, credits: LEAST_CREDITS };
    const refuse = refuseMethod(allow);
    const patterns = bothForms(path);
    for (const route of atPath) registerRoute(app, patterns, route, options);
    for (const pattern of patterns) {
      app.options(pattern, answerOptions(options, path, allow));
      app.any(pattern, (res, req, announced) => handleRequest(options, res, req, announced, refused, refuse));
    }
  }
}

function registerRoute(
  app: FramedRoutes,
  patterns: readonly string[],
  route: AnsweredRoute,
  options: DispatcherOptions,
): void {
  const { path: template, weight: credits, tier, vital = false, ofAccount } = route;
  const names = [...template.matchAll(/:(\w+)/g)].map(([, name = '']) => name);
  const readJson = route.cache === 'none' && route.body ? compileBody(route.body) : null;
  const live = route.cache === 'none';
  const streams = isStreamed(route);
  const reads = { parts: names.length, conditions: !live, streams, encoding: true, host: live };
  const account = { template, credits, tier, vital, ofAccount, reads };
  const askedOf = memoize(readAddress(route, names, options), MEMOIZED);
  const addressOf = ({ parts, query }: RequestInfo) => askedOf(`${parts}?${query}`);
  const answerer: Answerer = {
    atHand: (asked, caller) => preparedReply(options, route, addressOf(asked), asked, caller),
    async make(asked, caller, body, gone) {
      const request = { caller, host: asked.host, body: readJson?.(body) };
      return answerRoute(options, route, addressOf(asked), asked, request, gone);
    },
  };
  for (const pattern of patterns) {
    const url = names.length === 0 ? pattern : undefined;
    const serve = (method: string): Handler => {
      const served = { ...account, method, url };
      return (res, req, announced) => handleRequest(options, res, req, announced, served, answerer);
    };
    const method = methodOf(route);
    if (method === 'DELETE') app.del(pattern, serve('delete'));
    else if (method === 'POST') app.post(pattern, serve('post'));
    else if (method === 'PATCH') app.patch(pattern, serve('patch'));
    else {
      app.get(pattern, serve('get'));
      app.head(pattern, serve('head'));
    }
  }
}

/** Returns a function from `parts?query` to validated parameters, which several requests may share. */
function readAddress(route: AnsweredRoute, names: readonly string[], { api }: DispatcherOptions) {
  const parameters = compileParameters(
    { ...route.parameters, ...sharedParameters(route) },
    api.config.chains.map((chain) => chain.name),
  );
  return (address: string): RouteRequest => {
    const end = address.indexOf('?');
    const parts = address.slice(0, end).split('/');
    const path = Object.fromEntries(names.map((name, index) => [name, decodePart(parts[index] ?? '')]));
    const params = Object.freeze(parameters.read(path, address.slice(end + 1)));
    return { params, key: `${route.path} ${JSON.stringify(params)}` };
  };
}

/** Answers requests that match no route. */
export function registerFallback(app: FramedRoutes, options: DispatcherOptions): void {
  const answerer = refusing(({ url }) => new ApiError('not_found', `there is no ${url}: /api/ lists all paths`));
  app.any('/*', (res, req, announced) => {
    handleRequest(options, res, req, announced, { template: 'none', credits: LEAST_CREDITS }, answerer);
  });
}

/**
 * A browser's preflight is free: browsers send one before each request with a key, its answer is always the same, and refusing it would
 * cost as much. Every other OPTIONS request is charged.
 */
export function answerOptions(options: ExchangeOptions, template: string, allow: string): Handler {
  const account = { template, credits: LEAST_CREDITS };
  const headers = headerLines({ ...PREFLIGHT_HEADERS, 'Access-Control-Allow-Methods': allow, Allow: allow });
  const reply: Reply = { status: 204, headers, body: null };
  const answerer = always(reply);
  return (res, req, announced) => {
    const isPreflight = req.getHeader('origin') !== '' && req.getHeader('access-control-request-method') !== '';
    if (isPreflight && announced === 0) writeWithoutBody(res, reply, NO_LINES, options.unsent);
    else handleRequest(options, res, req, announced, account, answerer);
  };
}

function refuseMethod(allow: string): Answerer {
  return refusing(({ method }) => {
    const message = `${method.toUpperCase()} is not allowed here, only ${allow}`;
    return new ApiError('method_not_allowed', message, { headers: { Allow: allow } });
  });
}

function bothForms(path: string): string[] {
  const bare = path.replace(/\/$/, '');
  return [bare, `${bare}/`];
}

function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw new ApiError('invalid_request', `${JSON.stringify(part)} is not percent-encoded UTF-8`);
  }
}
