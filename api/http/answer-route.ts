/** Question → reply of one route: 304, prepared answer, or a fresh one from a snapshot. */
import { stringifyExact } from '../../schemas/exact-json.ts';
import type { ServiceState } from '../state/service-state.ts';
import type { DispatcherOptions } from './dispatcher.ts';
import { etagOf, matchesEtag } from './etag.ts';
import type { Reply } from './reply.ts';
import type { Answer, LiveRoute, Route, StateRoute } from './route.ts';

/** All that is kept of a request. */
export interface Question {
  readonly method: string;
  readonly url: string;
  readonly query: string;
  /** Path parameters in order, still percent-encoded. */
  readonly parts: readonly string[];
  readonly ifNoneMatch: string;
  readonly requestId: string;
}

type Values = Readonly<Record<string, unknown>>;
type Options = Pick<DispatcherOptions, 'api' | 'prepared'>;

const JSON_TYPE = 'application/json; charset=utf-8';

export async function answerRoute(options: Options, route: Route, params: Values, asked: Question): Promise<Reply> {
  if (route.cache === 'none') return liveReply(options, route, params);
  const known = tagOf(route, params, options.api.watch.state);
  if (matchesEtag(asked.ifNoneMatch, etagOf(known))) return notModified(known);
  const { tag, body } = await stateAnswer(options, route, params, known);
  if (matchesEtag(asked.ifNoneMatch, etagOf(tag))) return notModified(tag);
  return { status: 200, headers: { 'Content-Type': JSON_TYPE, ...cacheHeaders(tag) }, body };
}

function stateAnswer({ api, prepared }: Options, route: StateRoute, params: Values, known: string) {
  const fresh = async () => {
    const { tag, value } = await api.snapshot(async (read) => ({
      value: await route.handler({ params: params as never, api, read }),
      tag: tagOf(route, params, read.state),
    }));
    return { tag, body: jsonBytes(typeof value === 'function' ? await value() : value) };
  };
  if (route.cache !== 'prepared') return fresh();
  const key = `${route.path} ${JSON.stringify(params)}`;
  return prepared.get(key, known) ?? prepared.make(key, known, fresh);
}

async function liveReply({ api }: Options, route: LiveRoute, params: Values): Promise<Reply> {
  const answer: Answer = await route.handler({ params: params as never, api });
  const headers = {
    'Content-Type': answer.contentType ?? JSON_TYPE,
    'Cache-Control': 'no-store',
    ...answer.headers,
  };
  return { status: answer.status ?? 200, headers, body: bytesOf(answer.body) };
}

function tagOf(route: StateRoute, params: Values, state: ServiceState): string {
  const chain = params.chain;
  return route.scope === 'chain' && typeof chain === 'string' ? state.chainTag(chain) : state.tag;
}

/** Any cache may keep the answer but has to ask whether the chain has moved. */
function cacheHeaders(tag: string): Record<string, string> {
  return { ETag: etagOf(tag), 'Cache-Control': 'public, no-cache' };
}

function notModified(tag: string): Reply {
  return { status: 304, headers: cacheHeaders(tag), body: null };
}

function bytesOf(body: unknown): Uint8Array {
  if (body instanceof Uint8Array) return body;
  return typeof body === 'string' ? Buffer.from(body) : jsonBytes(body);
}

function jsonBytes(value: unknown): Uint8Array {
  return Buffer.from(`${stringifyExact(value)}\n`);
}
