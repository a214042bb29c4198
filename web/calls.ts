/** A GET of the REST interface as the views name it: typed by the client, and comparable by its address. */
import type { TextPaths } from '../client/client.ts';

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

/** What a path answers, its numbers as text. */
export type AnswerOf<Path extends GetPath> =
  Operation<Path> extends {
    responses: { 200: { content: { 'application/json': infer Data } } };
  }
    ? Data
    : never;

/** What a path takes by POST. */
export type BodyOf<Path extends keyof TextPaths> = TextPaths[Path] extends {
  post: { requestBody: { content: { 'application/json': infer Body } } };
}
  ? Body
  : never;

export interface Call<Path extends GetPath = GetPath> {
  readonly path: Path;
  /** Path and query as asked. */
  readonly url: string;
  /** What stands in its path, by name. */
  readonly parts: Readonly<Record<string, string | null | undefined>>;
  /** What is asked instead where the service answers with this code. */
  readonly instead?: {
    readonly of: string;
    readonly url: string;
    /** The service will answer so again: what is asked instead is asked alone from then on. */
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
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) if (typeof value === 'string') search.set(name, value);
  return { path, url: search.size === 0 ? address : `${address}?${search}`, parts };
}

/** Where no mempool is known, the rest is asked for. */
export const orWithoutMempool = <Path extends GetPath>(whole: Call<Path>): Call<Path> =>
  orInstead(whole, 'mempool_unknown', false, (search) => search.delete('unconfirmed'));

/** Where all rows are more than one answer takes, the first of them are asked for. */
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

/** Answered to the session alone, or by its tier. */
export const needsSession = (url: string): boolean => isOfAccount(url) || /^\/api\/market\/best-conversion\b/.test(url);

/** Whether a call belongs to an account: its answer is for one identity alone. A plan is priced without a login. */
export const isOfAccount = (url: string): boolean =>
  /^\/api\/(auth|keys|usage|webhooks)(\/|\?|$)/.test(url) && !url.startsWith('/api/usage/plan');
