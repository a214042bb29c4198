/** A route is data: the dispatcher, the index, the documentation and the limiter all read the same table. */
import type { LosslessNumber } from 'lossless-json';
import type { AccessTier } from '../../schemas/config.ts';
import type { Caller } from '../access/gate.ts';
import type { HolderBy, Proof } from '../access/require-holder.ts';
import type { ApiContext } from '../api-context.ts';
import type { JsonSchema, Typed } from '../schema/json-schema.ts';
import type { Snapshot } from '../state/snapshot.ts';
import type { ApiErrorCode } from './api-error.ts';
import type { Parameters, ParameterValues } from './parameters.ts';

export interface Call<P extends Parameters = Parameters> {
  readonly params: ParameterValues<P>;
  readonly api: ApiContext;
}

export interface LiveCall<P extends Parameters = Parameters, Body = unknown, H = unknown> extends Call<P> {
  readonly caller: Caller;
  /** The authenticated holder, if the route has a `holder`. */
  readonly holder: HolderBy<H>;
  /** Host name of the request, in lower case. */
  readonly host: string;
  /** Matches the route's `body` schema. */
  readonly body: Body;
}

export interface StateCall<P extends Parameters = Parameters> extends Call<P> {
  readonly read: Snapshot;
  /** The caller uses only the rows of the answer. */
  readonly rowsAlone?: boolean;
}

/** Answer of a live route. A state route returns only a value, which is served as JSON with status 200. */
export interface Answer<T = unknown> {
  readonly status?: number;
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Bytes and text are sent unchanged, null means a status without a body, anything else is sent as JSON. */
  readonly body: T | Uint8Array;
}

export type RouteHeader = 'Provisional-Since' | 'Marks' | 'Link' | 'X-Next-Cursor';

/** Answer of a state route that also sets headers. */
export class HeadedValue<T = unknown> {
  readonly value: T;
  readonly headers: Readonly<Record<string, string>>;
  /** Whether data is missing because a source was unavailable: such an answer is served but not cached. */
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
  /** Extra headers that the answer may have. */
  readonly headers?: readonly RouteHeader[];
  /** Errors of the handler that parameters, body, weight and tier do not imply. */
  readonly errors?: readonly ApiErrorCode[];
  /** Content type of the answer; JSON by default. */
  readonly produces?: string;
  /** Cost in credits. */
  readonly weight: 0 | 1 | 2 | 5;
  /** Lowest tier that may use the route; without it no key is needed. */
  readonly tier?: AccessTier;
  /** As in RequestCost: an account's own paths. */
  readonly ofAccount?: boolean;
  /** Answered even while the limiter is unavailable: a health probe must not depend on a store. */
  readonly vital?: boolean;
}

/** Where an answer has its rows, and how to read all of them. */
export interface AnswerRows {
  /** Member that contains the rows; null when the answer itself is the list. */
  readonly member: string | null;
  /** Parameters of each batch, for lists where `nextCursor` leads to the next batch. */
  readonly batch?: Readonly<Record<string, number>>;
}

/** Answers from one snapshot of the stores; its ETag is the state of one chain or of all. */
export interface StateRoute<P extends Parameters = Parameters, S extends JsonSchema = JsonSchema, M = unknown>
  extends RouteBase<P, S> {
  /** Answers are cached until the state changes; `prepared` answers are then rebuilt if they were requested lately. */
  readonly cache: 'prepared' | 'state';
  readonly scope: 'chain' | 'all';
  /** Text for the ETag, if the answer also depends on this process' memory. */
  readonly extraTag?: (call: Call<P>) => string;
  /** Height of the block that an answer is about: a cache may keep the answer for a while once no rewind can remove the block. */
  readonly settledAt?: (answer: Typed<S>) => number;
  /** Present when `format` can request only the rows. */
  readonly rows?: AnswerRows;
  readonly handler: (call: StateCall<P>) => Promise<M>;
}

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

/** Answers from memory or a daemon, may set its own status, and is the only kind of route that may change something. */
export interface LiveRoute<
  P extends Parameters = Parameters,
  S extends JsonSchema = JsonSchema,
  B extends JsonSchema = JsonSchema,
  A = Answer,
  H = unknown,
> extends RouteBase<P, S> {
  readonly cache: 'none';
  /** GET by default. */
  readonly method?: Method;
  /** Schema of the JSON body; without it no body is read. */
  readonly body?: B;
  /** Status of success, unless the handler sets another; 200 by default. */
  readonly status?: 201 | 204;
  /** Another status whose body matches `response`. */
  readonly otherwise?: 503;
  /** Credentials that identify the holder; without it the route has no holder. */
  readonly holder?: Proof;
  readonly handler: (call: LiveCall<P, Typed<B>, H>) => Promise<A>;
}

/** Served as files by its own module; costs bandwidth instead of credits. */
export interface FileRoute<P extends Parameters = Parameters, S extends JsonSchema = JsonSchema>
  extends RouteBase<P, S> {
  readonly cache: 'files';
  readonly weight: 0;
}

/** Routes that the dispatcher answers. */
export type AnsweredRoute = StateRoute | LiveRoute;
export type Route = AnsweredRoute | FileRoute;

export const isAnswered = (route: Route): route is AnsweredRoute => route.cache !== 'files';

export function methodOf(route: Route): Method {
  return (route.cache === 'none' && route.method) || 'GET';
}

export function statusOf(route: Route): number {
  return (route.cache === 'none' && route.status) || 200;
}

/** Members of an answer, at any depth, that its schema does not have. Objects without a schema may have any member. */
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

/** A route whose parameters and answer the compiler knows: the types of the client are derived from them. */
export interface DescribedRoute<D> {
  readonly [DESCRIPTION]?: D;
}
export type DescriptionOf<R> = R extends DescribedRoute<infer D> ? D : never;

/** `Content`: content type of an answer that is not JSON. */
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

/** The compiler checks the handler against the schemas; the returned route loses these types, and parameters are validated at run time. */
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
  route: Omit<FileRoute<P, S>, 'cache' | 'weight'> & { readonly path: Path },
): FileRoute & DescribedRoute<Description<Path, 'get', 200, P, Typed<S>>> {
  return { ...route, cache: 'files', weight: 0 };
}

/** Returns whether Accept or `format` can request the rows of the answer as a stream. */
export function isStreamed({ parameters }: Pick<Route, 'parameters'>): boolean {
  return Object.hasOwn(parameters, 'format');
}
