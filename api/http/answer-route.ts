/** Answers a request to one route: with 304, a prepared answer, or a fresh one from a snapshot. */
import type { WorkOwner } from '../access/priority-lanes.ts';
import { requireHolder } from '../access/require-holder.ts';
import { orOwn } from '../access/shared-work.ts';
import type { ApiContext } from '../api-context.ts';
import { chainState, isBehind, isFinal } from '../state/chain-state.ts';
import type { CurrentState } from '../state/current-state.ts';
import type { ServiceState } from '../state/service-state.ts';
import { matchingEtag } from './etag.ts';
import { type Forms, formsOf } from './forms.ts';
import { headerLines } from './header-lines.ts';
import { listStream, type StreamRequest, streamFormat } from './list-stream.ts';
import { TEXT_NUMBERS_TYPE } from './numbers.ts';
import type { PreparedAnswer, PreparedAnswers } from './prepared-answers.ts';
import { printedJson, withTextNumbers } from './printed-json.ts';
import type { Reply } from './reply.ts';
import {
  type Answer,
  type AnsweredRoute,
  HeadedValue,
  isStreamed,
  type LiveCall,
  type LiveRoute,
  type StateRoute,
  statusOf,
} from './route.ts';

/** Request fields, read before the first await. Headers that the answer does not depend on are empty. */
export interface RequestInfo extends StreamRequest {
  readonly method: string;
  readonly url: string;
  readonly query: string;
  /** Path parameters in order, still percent-encoded, separated by slashes. */
  readonly parts: string;
  /** In lower case. */
  readonly host: string;
  readonly ifNoneMatch: string;
  readonly acceptEncoding: string;
  readonly requestId: string;
}

/** A request to a route: its validated parameters, and the key under which its answer is cached. */
export interface RouteRequest {
  readonly params: Values;
  readonly key: string;
}

/** An answer in all its forms, with the route and the parameters that it answers. */
export interface StateAnswer extends PreparedAnswer {
  readonly route: StateRoute;
  readonly params: Values;
  readonly forms: Forms;
  readonly state: ServiceState;
  /** Milliseconds of `performance.now()`. */
  readonly madeAt: number;
}

export interface AnswerOptions {
  /** For work that no single caller asked for, and for answers that many callers share. */
  readonly api: ApiContext;
  readonly apiOf: (caller: WorkOwner, gone?: AbortSignal) => ApiContext;
  /** Rebuilt when the state moves. */
  readonly prepared: PreparedAnswers<StateAnswer>;
  /** Answers to all other requests; dropped when the state moves. */
  readonly repeated: PreparedAnswers<StateAnswer>;
  readonly currentState: CurrentState;
}

export type Values = Readonly<Record<string, unknown>>;

const JSON_TYPE = 'application/json; charset=utf-8';
const isText = ({ numbers }: Values) => numbers === 'text';
const jsonType = (params: Values) => (isText(params) ? `${TEXT_NUMBERS_TYPE}; charset=utf-8` : JSON_TYPE);
/** Any cache may keep the answer but must revalidate it, because the chain may have moved. */
const RECENT = 'public, no-cache';
/** For blocks too deep for any rewind: only `confirmations` still changes. */
const FINAL = 'public, max-age=300, stale-while-revalidate=86400';
/** For an answer made while a source was unavailable: the source may answer the next request. */
const PASSING = 'no-store';
/** Shortest time between two rebuilds of an answer while blocks arrive faster than clients read. */
const CATCH_UP_MS = 1000;

/** Returns the prepared reply, or a 304 when the client already has the answer; null when the answer is not prepared or has to be made. */
export function preparedReply(
  options: AnswerOptions,
  route: AnsweredRoute,
  { params, key }: RouteRequest,
  asked: RequestInfo,
  caller: WorkOwner,
): Reply | null {
  if (route.cache !== 'prepared' || streamFormat(route, params, asked.accept) !== null) return null;
  const known = tagOf(options.api, route, params, options.api.watch.state);
  const unchanged = knownReply(route, known, asked);
  if (unchanged !== null) return unchanged;
  const answer = preparedAnswer(options, key, known, caller);
  return answer && (unchangedReply(answer, asked) ?? answer.forms.atHand(asked.acceptEncoding));
}

export async function answerRoute(
  options: AnswerOptions,
  route: AnsweredRoute,
  { params, key }: RouteRequest,
  asked: RequestInfo,
  request: Omit<LiveCall, 'params' | 'api' | 'holder'>,
  gone: () => AbortSignal,
): Promise<Reply> {
  const { caller } = request;
  if (route.cache === 'none') return liveReply(options.apiOf(caller, gone()), route, params, asked, request);
  const format = streamFormat(route, params, asked.accept);
  if (format !== null) return listStream(options.apiOf(caller), route, params, format, asked, gone());
  if (route.cache !== 'prepared') {
    return repeatedReply({ ...options, api: options.apiOf(caller) }, route, { params, key }, asked);
  }
  return replyOf(await preparedOrMade(options, route, params, key, caller), asked);
}

async function replyOf(answer: StateAnswer, asked: RequestInfo): Promise<Reply> {
  return unchangedReply(answer, asked) ?? answer.forms.make(asked.acceptEncoding);
}

/** `*` does not match: whether an answer exists is not known yet. */
function knownReply(route: StateRoute, tag: string, { ifNoneMatch }: RequestInfo): Reply | null {
  const same = matchingEtag(ifNoneMatch, tag, false);
  return same === null ? null : notModified(same, route);
}

/** Returns 304 when the client has exactly this answer, even if it is not that of the newest state. */
function unchangedReply({ route, tag }: StateAnswer, { ifNoneMatch }: RequestInfo): Reply | null {
  const same = matchingEtag(ifNoneMatch, tag);
  return same === null ? null : notModified(same, route);
}

async function preparedOrMade(
  options: AnswerOptions,
  route: StateRoute,
  params: Values,
  key: string,
  caller: WorkOwner,
): Promise<StateAnswer> {
  const { api, apiOf, prepared } = options;
  const known = tagOf(api, route, params, api.watch.state);
  const ready = preparedAnswer(options, key, known, caller);
  if (ready) return ready;
  let isOwn = false;
  const make = (owner: WorkOwner) => {
    isOwn = true;
    return freshAnswer(apiOf(owner), route, params);
  };
  const made = prepared.make(key, known, make, { lane: caller.lane, payer: caller.payer });
  return isOwn ? made : orOwn(made, () => make(caller));
}

function preparedAnswer(
  { api, prepared }: AnswerOptions,
  key: string,
  known: string,
  caller: WorkOwner,
): StateAnswer | null {
  return prepared.get(key, known, caller) ?? youngAnswer(api, prepared.latest(key)) ?? null;
}

/**
 * Reads the committed state before it sends a 304 or a cached answer: a client that learned of a block from another process may ask before
 * this process has seen the block.
 */
async function repeatedReply(
  { api, repeated, currentState }: AnswerOptions,
  route: StateRoute,
  { params, key }: RouteRequest,
  asked: RequestInfo,
): Promise<Reply> {
  const known = tagOf(api, route, params, api.watch.state);
  const ready = knownReply(route, known, asked) ?? repeated.get(key, known);
  if (ready && known === tagOf(api, route, params, await currentState())) {
    return 'forms' in ready ? replyOf(ready, asked) : ready;
  }
  const answer = await freshAnswer(api, route, params);
  repeated.keep(key, answer);
  return replyOf(answer, asked);
}

/** While a chain catches up, an answer may be a second old: it names the block that it was made at. */
function youngAnswer(api: ApiContext, answer: StateAnswer | undefined): StateAnswer | undefined {
  if (!answer || performance.now() - answer.madeAt > CATCH_UP_MS) return undefined;
  return isBehind(api, answer.state) ? answer : undefined;
}

/** Makes the answer from a snapshot of the stores. */
export async function freshAnswer(api: ApiContext, route: StateRoute, params: Values): Promise<StateAnswer> {
  // Taken before the read, so that after a change during it the next answer has another tag.
  const extraTag = extraTagOf(api, route, params);
  const { state, value } = await api.snapshot(async (read) => ({
    value: await route.handler({ params: params as never, api, read }),
    state: read.state,
  }));
  const made = typeof value === 'function' ? await value() : value;
  const { value: whole, headers: own, isPassing } = made instanceof HeadedValue ? made : new HeadedValue(made, {});
  const chain = route.scope === 'chain' && typeof params.chain === 'string' ? params.chain : null;
  const height = route.settledAt?.(whole);
  const settled = chain !== null && height !== undefined && isFinal(api, state, chain, height);
  const headers = {
    'Content-Type': jsonType(params),
    'Cache-Control': isPassing ? PASSING : settled ? FINAL : RECENT,
    'X-Chain-State': chainState(api, state, chain),
    ...(isStreamed(route) && { Vary: 'Accept' }),
    ...own,
  };
  const tag = tagOfState(route, params, state) + extraTag;
  const body = await printedJson(whole, isText(params));
  const forms = formsOf({ status: 200, headers, body, tag: isPassing ? null : tag });
  return { route, params, tag, body, forms, state, madeAt: performance.now(), transient: isPassing };
}

async function liveReply(
  api: ApiContext,
  route: LiveRoute,
  params: Values,
  asked: RequestInfo,
  request: Omit<LiveCall, 'params' | 'api' | 'holder'>,
): Promise<Reply> {
  const holder = (route.holder && (await requireHolder(api, request.caller, route.holder))) as never;
  const answer: Answer = await route.handler({ params: params as never, api, holder, ...request });
  const headers = {
    'Content-Type': answer.contentType ?? jsonType(params),
    'Cache-Control': 'no-store',
    ...answer.headers,
  };
  const status = answer.status ?? statusOf(route);
  const body = answer.body === null ? null : await bytesOf(answer.body, isText(params));
  return formsOf({ status, headers, body, tag: null }).make(asked.acceptEncoding);
}

/** Returns the ETag: the state of the answer's chain, or of all chains, and any extra text of the route. */
export function tagOf(api: ApiContext, route: StateRoute, params: Values, state: ServiceState): string {
  return tagOfState(route, params, state) + extraTagOf(api, route, params);
}

function extraTagOf(api: ApiContext, { extraTag }: StateRoute, params: Values): string {
  return extraTag ? `-${extraTag({ api, params: params as never })}` : '';
}

function tagOfState(route: StateRoute, params: Values, state: ServiceState): string {
  const chain = params.chain;
  return route.scope === 'chain' && typeof chain === 'string' ? state.chainTag(chain) : state.tag;
}

/** A 304 is sent without reading the answer, so whether it is final is unknown here: caches must revalidate. */
function notModified(etag: string, route: StateRoute): Reply {
  const Vary = isStreamed(route) ? 'Accept, Accept-Encoding' : 'Accept-Encoding';
  return { status: 304, headers: headerLines({ ETag: etag, 'Cache-Control': RECENT, Vary }), body: null };
}

async function bytesOf(body: unknown, isText: boolean): Promise<Uint8Array> {
  if (body instanceof Uint8Array) return isText ? withTextNumbers(body) : body;
  return typeof body === 'string' ? Buffer.from(body) : printedJson(body, isText);
}
