/** A route is data: the dispatcher, the index, the documentation and the limiter all read this one table. */
import type { LosslessNumber } from 'lossless-json';
import type { AccessTier } from '../../schemas/config.ts';
import type { Caller } from '../access/gate.ts';
import type { HolderBy, Proof } from '../access/require-holder.ts';
import type { ApiContext } from '../api-context.ts';
import type { JsonSchema, Typed } from '../schema/json-schema.ts';
import type { Snapshot } from '../state/snapshot.ts';
import type { Parameters, ParameterValues } from './parameters.ts';

export interface Call<P extends Parameters = Parameters> {
  readonly params: ParameterValues<P>;
  readonly api: ApiContext;
}

export interface LiveCall<P extends Parameters = Parameters, Body = unknown, H = unknown> extends Call<P> {
  readonly caller: Caller;
  /** Whose the path is, where the route has a `holder`. */
  readonly holder: HolderBy<H>;
  /** Name that the client called the service by, in lower case. */
  readonly host: string;
  /** Fits the route's `body`. */
  readonly body: Body;
}

export interface StateCall<P extends Parameters = Parameters> extends Call<P> {
  readonly read: Snapshot;
  /** The caller uses nothing of the answer but its rows. */
  readonly rowsAlone?: boolean;
}

/** Answer of a live route. A state route returns only a value, which is served as JSON with status 200. */
export interface Answer<T = unknown> {
  readonly status?: number;
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Bytes and text go out as they are, null with a status that has no body, anything else as JSON. */
  readonly body: T | Uint8Array;
}

export type RouteHeader = 'Provisional-Since' | 'Marks' | 'Link' | 'X-Next-Cursor';

/** Answer of a state route that also sets headers. */
export class HeadedValue<T = unknown> {
  readonly value: T;
  readonly headers: Readonly<Record<string, string>>;
  /** Says less than the state has, because something was away: served, but kept by no cache. */
  readonly isPassing: boolean;

  constructor(value: T, headers: Readonly<Record<string, string>>, isPassing = false) {
    this.value = value;
    this.headers = headers;
    this.isPassing = isPassing;
  }
}

/** Result of a state route's handler; a function runs after the snapshot is closed, for example to ask a daemon. */
type Made<T> = Served<T> | (() => Promise<Served<T>>);
type Served<T> = T | HeadedValue<T>;

interface RouteBase<P extends Parameters, S extends JsonSchema> {
  /** `/api/blocks/:height`; served with and without a slash at the end. */
  readonly path: string;
  readonly summary: string;
  readonly parameters: P;
  readonly response: S;
  /** Names of the headers of its own that it may answer with. */
  readonly headers?: readonly RouteHeader[];
  /** Content type of the answer; JSON when it is not given. */
  readonly produces?: string;
  /** Credits. */
  readonly weight: 0 | 1 | 2 | 5;
  /** Lowest tier that may ask; null = without a key. */
  readonly tier: AccessTier | null;
  /** As in RequestCost: an account's own paths. */
  readonly ofAccount?: boolean;
  /** Answered even while the limits cannot be kept: whether the process lives must not hang on a store. */
  readonly vital?: boolean;
}

/** Where an answer has its rows, and how they are read to the end. */
export interface AnswerRows {
  /** Member that is the list of rows; null: the answer is that list. */
  readonly member: string | null;
  /** Parameters of a batch, where `nextCursor` leads from one to the next. */
  readonly batch?: Readonly<Record<string, number>>;
}

/** Answers from one snapshot of the stores; its ETag is the state of one chain or of all. */
export interface StateRoute<P extends Parameters = Parameters, S extends JsonSchema = JsonSchema, M = unknown>
  extends RouteBase<P, S> {
  /** Both are cached until the state changes; `prepared` answers are then rebuilt if they were requested lately. */
  readonly cache: 'prepared' | 'state';
  readonly scope: 'chain' | 'all';
  /** Text for the ETag, if the answer also depends on this process' memory. */
  readonly extraTag?: (call: Call<P>) => string;
  /** Height of the block that an answer is about: a cache may keep it for a while once no rewind reaches that. */
  readonly settledAt?: (answer: Typed<S>) => number;
  /** Given where `format` can ask for rows alone. */
  readonly rows?: AnswerRows;
  readonly handler: (call: StateCall<P>) => Promise<M>;
}

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

/** Answers from memory, from a daemon, or with a status of its own; the only kind that may change something. */
export interface LiveRoute<
  P extends Parameters = Parameters,
  S extends JsonSchema = JsonSchema,
  B extends JsonSchema = JsonSchema,
  A = Answer,
  H = unknown,
> extends RouteBase<P, S> {
  readonly cache: 'none';
  /** GET when it is not given. */
  readonly method?: Method;
  /** Schema of the JSON body; without it none is read. */
  readonly body?: B;
  /** Status of success unless the handler sets another; 200 by default. */
  readonly status?: 201 | 204;
  /** Another status whose body fits `response`. */
  readonly otherwise?: 503;
  /** Credentials that the path needs to know its holder; a path without it has none. */
  readonly holder?: Proof;
  readonly handler: (call: LiveCall<P, Typed<B>, H>) => Promise<A>;
}

/** Served by a part of its own, as files: it costs bandwidth instead of credits. */
export interface FileRoute<P extends Parameters = Parameters, S extends JsonSchema = JsonSchema>
  extends RouteBase<P, S> {
  readonly cache: 'files';
  readonly weight: 0;
  readonly tier: null;
}

/** Those that the dispatcher answers. */
export type AnsweredRoute = StateRoute | LiveRoute;
export type Route = AnsweredRoute | FileRoute;

export const isAnswered = (route: Route): route is AnsweredRoute => route.cache !== 'files';

export function methodOf(route: Route): Method {
  return (route.cache === 'none' && route.method) || 'GET';
}

export function statusOf(route: Route): number {
  return (route.cache === 'none' && route.status) || 200;
}

/** Members that the schema of an answer does not have, at any depth; objects without a schema may have any. */
type Surplus<A, T> = unknown extends T
  ? never
  : A extends HeadedValue<infer V>
    ? Surplus<V, T>
    : A extends () => Promise<infer V>
      ? Surplus<V, T>
      : A extends Atom
        ? never
        : A extends readonly (infer I)[]
          ? Surplus<I, T extends readonly (infer J)[] ? J : never>
          : { [K in keyof A]-?: K extends KeyOf<T> ? Surplus<A[K], MemberOf<T, K>> : K }[keyof A];
type Atom = string | number | boolean | null | undefined | LosslessNumber | Uint8Array;
type KeyOf<T> = T extends Atom ? never : keyof T;
type MemberOf<T, K> = T extends unknown ? (K extends keyof T ? T[K] : never) : never;
export type Fitting<A, T> = [Surplus<A, T>] extends [never]
  ? unknown
  : { readonly 'members that no schema has': Surplus<A, T> };

declare const DESCRIPTION: unique symbol;

/** A route whose parameters and answer are known to the compiler: the client's types follow from them. */
export interface DescribedRoute<D> {
  readonly [DESCRIPTION]?: D;
}
export type DescriptionOf<R> = R extends DescribedRoute<infer D> ? D : never;

/** `Content`: the type of what is not JSON. */
export interface Description<
  Path,
  Method,
  Status,
  Parameters,
  Answer,
  Body = unknown,
  Content = 'json',
  Otherwise = never,
> {
  readonly path: Path;
  readonly method: Method;
  readonly status: Status;
  readonly parameters: Parameters;
  readonly answer: Answer;
  readonly body: Body;
  readonly content: Content;
  readonly otherwise: Otherwise;
}

/** The compiler holds parameters and answer to their schemas; in the table parameters are checked at run time. */
export function stateRoute<
  const P extends Parameters,
  const S extends JsonSchema,
  const M extends Made<Typed<S>>,
  const Path extends string,
>(
  route: StateRoute<P, S, M> & Fitting<M, Typed<S>> & { readonly path: Path },
): StateRoute & DescribedRoute<Description<Path, 'get', 200, P, Typed<S>>> {
  return route as unknown as StateRoute;
}

export function liveRoute<
  const P extends Parameters,
  const S extends JsonSchema,
  const B extends JsonSchema,
  const A extends Answer<Typed<S>>,
  const Path extends string,
  const M extends Method = 'GET',
  const Status extends number = 200,
  const Content extends string = 'json',
  const Otherwise extends number = never,
  const H extends Proof | undefined = undefined,
>(
  route: LiveRoute<P, S, B, A, H> &
    Fitting<A['body'], Typed<S>> & {
      readonly path: Path;
      readonly method?: M;
      readonly status?: Status;
      readonly produces?: Content;
      readonly otherwise?: Otherwise;
      readonly holder?: H;
    },
): LiveRoute & DescribedRoute<Description<Path, Lowercase<M>, Status, P, Typed<S>, Typed<B>, Content, Otherwise>> {
  return route as unknown as LiveRoute;
}

export function fileRoute<const P extends Parameters, const S extends JsonSchema, const Path extends string>(
  route: Omit<FileRoute<P, S>, 'cache' | 'weight' | 'tier'> & { readonly path: Path },
): FileRoute & DescribedRoute<Description<Path, 'get', 200, P, Typed<S>>> {
  return { ...route, cache: 'files', weight: 0, tier: null };
}

/** Whether Accept or `format` can request the rows of the answer as a stream. */
export function isStreamed({ parameters }: Pick<Route, 'parameters'>): boolean {
  return Object.hasOwn(parameters, 'format');
}
