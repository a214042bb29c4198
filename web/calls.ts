/** A GET of the REST interface as views declare it: typed by the client, and comparable by URL. */
import type { TextPaths } from '../client/client.ts';
import { urlOf } from './text/url-of.ts';

export type GetPath = {
  [Path in keyof TextPaths]: TextPaths[Path] extends { get: { responses: { 200: unknown } } } ? Path : never;
}[keyof TextPaths];

type Operation<Path extends GetPath> = TextPaths[Path]['get'];
type ParametersOf<Path extends GetPath, Place extends 'path' | 'query'> =
  Operation<Path> extends {
    parameters: { [Key in Place]?: infer Given };
  }
    ? { readonly [Name in keyof Given]?: string | null | undefined }
    : never;

/** The 200 answer of a path, with its numbers as text. */
export type AnswerOf<Path extends GetPath> =
  Operation<Path> extends {
    responses: { 200: { content: { 'application/json': infer Data } } };
  }
    ? Data
    : never;

/** The JSON body that a path takes by POST. */
export type BodyOf<Path extends keyof TextPaths> = TextPaths[Path] extends {
  post: { requestBody: { content: { 'application/json': infer Body } } };
}
  ? Body
  : never;

export interface Call<Path extends GetPath = GetPath> {
  readonly path: Path;
  /** Path and query of the request. */
  readonly url: string;
  /** Path parameters by name. */
  readonly parts: Readonly<Record<string, string | null | undefined>>;
  /** The request to send instead when the service answers with the error code `of`. */
  readonly instead?: {
    readonly of: string;
    readonly url: string;
    /** Whether the service will always answer with this code: later requests then go straight to `url`. */
    readonly isForGood: boolean;
  };
}

export interface CallParameters<Path extends GetPath> {
  readonly path?: ParametersOf<Path, 'path'>;
  readonly query?: ParametersOf<Path, 'query'>;
}

export function call<Path extends GetPath>(path: Path, parameters: CallParameters<Path> = {}): Call<Path> {
  const { path: named, query } = parameters;
  const parts: Call['parts'] = named ?? {};
  const address = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(parts[name] ?? ''));
  return { path, url: urlOf(address, query), parts };
}

/** Requests the same without `unconfirmed` where the service has no mempool. */
export const orWithoutMempool = <Path extends GetPath>(whole: Call<Path>): Call<Path> =>
  orInstead(whole, 'mempool_unknown', false, (search) => search.delete('unconfirmed'));

/** Requests the first page where all rows together exceed the size limit of an answer. */
export const orFirstPage = <Path extends GetPath>(whole: Call<Path>, pageSize: string): Call<Path> =>
  orInstead(whole, 'answer_too_large', true, (search) => search.set('pageSize', pageSize));

function orInstead<Path extends GetPath>(
  whole: Call<Path>,
  of: string,
  isForGood: boolean,
  change: (search: URLSearchParams) => void,
): Call<Path> {
  const [path = '', query] = whole.url.split('?');
  const search = new URLSearchParams(query);
  change(search);
  return { ...whole, instead: { of, url: search.size === 0 ? path : `${path}?${search}`, isForGood } };
}

/** Whether the answer needs a session, or depends on the tier of the session. */
export const needsSession = (url: string): boolean => isOfAccount(url) || /^\/api\/market\/best-conversion\b/.test(url);

/** Whether a call belongs to an account, so that its answer is for one identity only. Pricing a plan needs no login. */
export const isOfAccount = (url: string): boolean =>
  /^\/api\/(auth|keys|usage|webhooks)(\/|\?|$)/.test(url) && !url.startsWith('/api/usage/plan');
