/** Describes a route as an OpenAPI operation. */

import { API_ERRORS, ApiError, type ApiErrorCode, problemBody } from '../http/api-error.ts';
import { STREAM_TYPES } from '../http/list-stream.ts';
import { sharedParameters, TEXT_NUMBERS_TYPE } from '../http/numbers.ts';
import { type ChainSchema, compileParameters } from '../http/parameters.ts';
import { isAnswered, isStreamed, methodOf, type Route, statusOf } from '../http/route.ts';
import type { JsonSchema } from '../schema/json-schema.ts';
import type { HEADERS } from './headers.ts';
import type { linksOf } from './links.ts';
import { operationId } from './operation-id.ts';

/** By route path: the parameters of a request, and its answer. */
export type Examples = Readonly<Record<string, Example | undefined>>;
export interface Example {
  readonly parameters: Readonly<Record<string, string | number | boolean>>;
  readonly answer: unknown;
}

/** Returns the segment after /api/. */
const tagOf = (path: string): string => /^\/api\/([\w-]+)/.exec(path)?.[1] ?? 'service';

/** Only GET routes have examples. */
function exampleOf(route: Route, examples: Examples): Example | undefined {
  return methodOf(route) === 'GET' ? examples[route.path] : undefined;
}

function parametersOf(route: Route, chains: readonly string[], examples: Examples) {
  const parameters = { ...route.parameters, ...sharedParameters(route) };
  const { schemas } = compileParameters(parameters, chains);
  const given = exampleOf(route, examples)?.parameters ?? {};
  return Object.entries(parameters).map(([name, { in: place, description, required }]) => ({
    name,
    in: place,
    description,
    required,
    schema: schemas[name],
    ...(Object.hasOwn(given, name) && { example: given[name] }),
  }));
}

/** Returns the error statuses that a route can answer with, in ascending order. */
export function statusesOf(route: Route): number[] {
  const { weight, tier, parameters, path, errors = [] } = route;
  const own = new Set<number>(errors.map((code) => API_ERRORS[code][0]));
  const named = Object.entries(parameters).filter(([name]) => !NO_NAMES.has(name));
  const names = path.includes(':') || named.some(([, { schema }]) => isName(schema));
  const possible: readonly (readonly [number, boolean])[] = [
    [400, true],
    [401, true],
    [403, tier !== undefined],
    [404, names],
    [409, Object.hasOwn(parameters, 'cursor')],
    [413, route.cache === 'none' && route.body !== undefined],
    [429, true],
    [500, true],
    [502, weight === 5],
    [503, true],
  ];
  return possible.filter(([status, may]) => may || own.has(status)).map(([status]) => status);
}

/** Texts that name nothing: a place in a list, and words to look for. */
const NO_NAMES: ReadonlySet<string> = new Set(['cursor', 'q']);

/** Whether the parameter is a name of something that may not exist. */
function isName(schema: JsonSchema | ChainSchema): boolean {
  return typeof schema === 'object' && schema.type === 'string' && schema.maxLength !== undefined;
}

export const ERROR_STATUSES = [...new Set(Object.values(API_ERRORS).map(([status]): number => status))].sort();

/** Describes errors of a status, with an example of each code. */
export function problemResponse(status: number) {
  const codes = Object.entries(API_ERRORS).filter(([, [of]]) => of === status);
  const examples = codes.map(([code, [, title, meaning]]) => {
    const value = problemBody(new ApiError(code as ApiErrorCode, meaning), '4f6b2c1e');
    return [code, { summary: title, value }] as const;
  });
  return {
    description: codes.map(([code, [, , meaning]]) => `\`${code}\`: ${meaning}`).join('\n\n'),
    headers: references(['X-Request-Id']),
    content: {
      'application/problem+json': { schema: PROBLEM, examples: Object.fromEntries(examples) },
    },
  };
}

const PROBLEM = { $ref: '#/components/schemas/Problem' };

function references(names: readonly (keyof typeof HEADERS)[]) {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

type Links = ReturnType<typeof linksOf>;

const LIMITS = [
  'X-Request-Id',
  'X-Credits-Cost',
  'RateLimit',
  'RateLimit-Policy',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
] as const;

function answerResponse(route: Route, examples: Examples, links: Links) {
  const answer = exampleOf(route, examples)?.answer;
  const content = { schema: route.response, ...(answer !== undefined && { example: answer }) };
  return {
    description: route.summary,
    headers: references([
      ...(isAnswered(route) ? LIMITS : (['X-Request-Id', 'ETag'] as const)),
      ...(route.cache === 'none' || !isAnswered(route) ? [] : (['ETag', 'X-Chain-State'] as const)),
      ...(route.headers ?? []),
    ]),
    ...(statusOf(route) !== 204 && {
      content: { [route.produces ?? 'application/json']: content, ...textContent(route), ...streamContent(route) },
    }),
    ...(Object.keys(links).length > 0 && { links }),
  };
}

/** Adds the route's own answer to a status that is otherwise an error. */
function otherwiseResponse(route: Route) {
  if (route.cache !== 'none' || route.otherwise === undefined) return {};
  const problem = problemResponse(route.otherwise);
  const content = { 'application/json': { schema: route.response }, ...problem.content };
  return { [route.otherwise]: { ...problem, description: route.summary, content } };
}

/** Describes the answer with numbers=text. */
function textContent(route: Route) {
  if (!Object.hasOwn(sharedParameters(route), 'numbers')) return {};
  return { [TEXT_NUMBERS_TYPE]: { schema: { description: 'The same, with each number as a string of its digits' } } };
}

/** Describes the same rows as a stream. */
function streamContent(route: Route) {
  if (!isStreamed(route)) return {};
  const rows = {
    schema: { type: 'string', description: 'Every row, in the order of the answer; 2 credits for each 1,000 rows' },
  };
  return Object.fromEntries(Object.values(STREAM_TYPES).map((type) => [type, rows]));
}

/** Any one of these credentials is enough; `{}` means none is needed. */
function securityOf(route: Route) {
  const holder = route.cache === 'none' ? route.holder : undefined;
  if (holder === 'session') return [{ session: [] }];
  const proofs = [{ key: [] }, { keyHeader: [] }, { session: [] }];
  return route.tier === undefined && holder === undefined ? [{}, ...proofs] : proofs;
}

export function operationOf(route: Route, chains: readonly string[], examples: Examples, links: Links) {
  const problems = statusesOf(route).filter((status) => ERROR_STATUSES.includes(status));
  return {
    operationId: operationId(route),
    tags: [tagOf(route.path)],
    summary: route.summary,
    parameters: parametersOf(route, chains, examples),
    ...(route.cache === 'none' &&
      route.body && { requestBody: { content: { 'application/json': { schema: route.body } } } }),
    security: securityOf(route),
    'x-credits': route.weight,
    'x-tier': route.tier ?? 'free',
    responses: {
      [statusOf(route)]: answerResponse(route, examples, links),
      ...(route.cache !== 'none' && { 304: { description: 'Nothing has changed since the ETag of If-None-Match' } }),
      ...Object.fromEntries(problems.map((status) => [status, { $ref: `#/components/responses/Error${status}` }])),
      ...otherwiseResponse(route),
      431: { description: 'Headers and address are longer than the server accepts; answered before any route' },
      default: { description: 'Any other error', content: { 'application/problem+json': { schema: PROBLEM } } },
    },
  };
}
