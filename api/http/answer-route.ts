/** Question → reply of one route: 304, prepared answer, or a fresh one from a snapshot. */
import { stringifyExact } from '../../schemas/exact-json.ts';
import type { ApiContext } from '../api-context.ts';
import { chainState, isCatchingUp, isFinal } from '../state/chain-state.ts';
import type { ServiceState } from '../state/service-state.ts';
import { chooseEncoding, compressed, isCompressible } from './compression.ts';
import { etagOf, matchingEtag } from './etag.ts';
import { listStream, type StreamQuestion, streamFormat } from './list-stream.ts';
import type { PreparedAnswer, PreparedAnswers } from './prepared-answers.ts';
import type { Reply } from './reply.ts';
import { type Answer, type LiveCall, type LiveRoute, type Route, type StateRoute, statusOf } from './route.ts';
import { andThen, type Soon } from './soon.ts';

/** All that is kept of a request. */
export interface Question extends StreamQuestion {
  readonly method: string;
  readonly url: string;
  readonly query: string;
  /** Path parameters in order, still percent-encoded. */
  readonly parts: readonly string[];
  readonly ifNoneMatch: string;
  readonly acceptEncoding: string;
  readonly requestId: string;
}

/** An answer with what it says about itself. */
export interface StateAnswer extends PreparedAnswer {
  readonly headers: Readonly<Record<string, string>>;
  /** Milliseconds of the process' clock. */
  readonly madeAt: number;
}

export interface AnswerOptions {
  readonly api: ApiContext;
  readonly prepared: PreparedAnswers<StateAnswer>;
}

type Values = Readonly<Record<string, unknown>>;

const JSON_TYPE = 'application/json; charset=utf-8';
/** Any cache may keep the answer but has to ask whether the chain has moved. */
const RECENT = 'public, no-cache';
/** Below every possible rewind only `confirmations` still change. */
const FINAL = 'public, max-age=300, stale-while-revalidate=86400';
/** How often an answer is made anew while blocks come faster than anybody can read. */
const CATCH_UP_MS = 1000;

/** At once when the answer is prepared, or the client has it. */
export function answerRoute(
  options: AnswerOptions,
  route: Route,
  params: Values,
  asked: Question,
  request: Pick<LiveCall, 'caller' | 'body'>,
): Soon<Reply> {
  if (route.cache === 'none')
    return andThen(liveReply(options.api, route, params, request), (reply) => encoded(reply, asked, null));
  const format = streamFormat(route, params, asked.accept);
  if (format !== null) return listStream(options.api, route, params, format, asked);
  const known = tagOf(route, params, options.api.watch.state);
  const unchanged = matchingEtag(asked.ifNoneMatch, known);
  if (unchanged !== null) return notModified(unchanged);
  return andThen(stateAnswer(options, route, params, known), ({ tag, body, headers }) => {
    const same = matchingEtag(asked.ifNoneMatch, tag);
    if (same !== null) return notModified(same);
    return encoded({ status: 200, headers, body }, asked, tag);
  });
}

function stateAnswer(
  { api, prepared }: AnswerOptions,
  route: StateRoute,
  params: Values,
  known: string,
): Soon<StateAnswer> {
  const fresh = () => freshAnswer(api, route, params);
  if (route.cache !== 'prepared') return fresh();
  const key = `${route.path} ${JSON.stringify(params)}`;
  return prepared.get(key, known) ?? youngAnswer(api, prepared.latest(key)) ?? prepared.make(key, known, fresh);
}

/** While catching up an answer may be a second old: it names the block that it was made at. */
function youngAnswer(api: ApiContext, answer: StateAnswer | undefined): StateAnswer | undefined {
  if (!answer || performance.now() - answer.madeAt > CATCH_UP_MS) return undefined;
  return isCatchingUp(api) ? answer : undefined;
}

async function freshAnswer(api: ApiContext, route: StateRoute, params: Values): Promise<StateAnswer> {
  const { state, value } = await api.snapshot(async (read) => ({
    value: await route.handler({ params: params as never, api, read }),
    state: read.state,
  }));
  const whole = typeof value === 'function' ? await value() : value;
  const chain = route.scope === 'chain' && typeof params.chain === 'string' ? params.chain : null;
  const height = route.settledAt?.(whole);
  const settled = chain !== null && height !== undefined && isFinal(api, state, chain, height);
  const headers = {
    'Content-Type': JSON_TYPE,
    'Cache-Control': settled ? FINAL : RECENT,
    'X-Chain-State': chainState(state, chain),
    ...(Object.hasOwn(route.parameters, 'format') && { Vary: 'Accept' }),
  };
  return { tag: tagOf(route, params, state), body: jsonBytes(whole), headers, madeAt: performance.now() };
}

async function liveReply(
  api: ApiContext,
  route: LiveRoute,
  params: Values,
  request: Pick<LiveCall, 'caller' | 'body'>,
): Promise<Reply> {
  const answer: Answer = await route.handler({ params: params as never, api, ...request });
  const headers = {
    'Content-Type': answer.contentType ?? JSON_TYPE,
    'Cache-Control': 'no-store',
    ...answer.headers,
  };
  return {
    status: answer.status ?? statusOf(route),
    headers,
    body: answer.body === null ? null : bytesOf(answer.body),
  };
}

/** In the best form that the client takes, with the validator of that form. */
function encoded(reply: Reply, { acceptEncoding }: Question, tag: string | null): Soon<Reply> {
  const { body } = reply;
  const can = body !== null && isCompressible(body, reply.headers['Content-Type'] ?? '');
  const encoding = can ? chooseEncoding(acceptEncoding) : null;
  const headers: Record<string, string> = { ...reply.headers };
  if (tag !== null) headers.ETag = etagOf(tag, encoding);
  if (can) headers.Vary = headers.Vary === undefined ? 'Accept-Encoding' : `${headers.Vary}, Accept-Encoding`;
  if (body === null || encoding === null) return { ...reply, headers };
  headers['Content-Encoding'] = encoding;
  return andThen(compressed(body, encoding), (bytes) => ({ ...reply, headers, body: bytes }));
}

function tagOf(route: StateRoute, params: Values, state: ServiceState): string {
  const chain = params.chain;
  return route.scope === 'chain' && typeof chain === 'string' ? state.chainTag(chain) : state.tag;
}

/** What a cache holds stays as it was said when it was stored. */
function notModified(etag: string): Reply {
  return { status: 304, headers: { ETag: etag }, body: null };
}

function bytesOf(body: unknown): Uint8Array {
  if (body instanceof Uint8Array) return body;
  return typeof body === 'string' ? Buffer.from(body) : jsonBytes(body);
}

function jsonBytes(value: unknown): Uint8Array {
  return Buffer.from(`${stringifyExact(value)}\n`);
}
