/** Types of every path in the shape of openapi-typescript, as openapi-fetch expects; derived from the route table. */
import type { DescriptionOf } from '../api/http/route.ts';
import type { TableRoute } from '../api/rest/route-table.ts';
import type { Typed } from '../api/schema/json-schema.ts';
import type { problem } from '../api/schema/problem.ts';
import type { Parsed } from './parsed.ts';

type Given<P, In> = { [K in keyof P as P[K] extends { readonly in: In } ? K : never]: ValueGiven<P[K]> };
type ValueGiven<P> = P extends { readonly type?: infer T } ? Parsed<Exclude<T, undefined>> : never;
type RequiredOf<P> = {
  [K in keyof P]: P[K] extends { readonly in: 'path' } | { readonly required: true } ? K : never;
}[keyof P];
type Query<P> = Given<Pick<P, RequiredOf<P>>, 'query'> & Partial<Given<Omit<P, RequiredOf<P>>, 'query'>>;
/** A place without parameters takes none; a place without required parameters is optional. */
type Place<Name extends string, Values> = [keyof Values] extends [never]
  ? { [N in Name]?: never }
  : Record<never, never> extends Values
    ? { [N in Name]?: Values }
    : { [N in Name]: Values };

type Headers = Record<string, string>;
export type Problem = Parsed<Typed<typeof problem>>;
interface Refusal {
  headers: Headers;
  content: { 'application/problem+json': Problem };
}
type Content<T> = [T] extends [null] ? { content?: never } : { content: { 'application/json': T } };

type Operation<D> = D extends {
  readonly parameters: infer P;
  readonly status: infer Status extends number;
  readonly answer: infer Answer;
  readonly body: infer Body;
  readonly otherwise: infer Otherwise extends number;
}
  ? {
      parameters: Place<'query', Query<P>> & Place<'path', Given<P, 'path'>> & { header?: never; cookie?: never };
      responses: Record<Status | Otherwise, { headers: Headers } & Content<Parsed<Answer>>> & { default: Refusal };
    } & (unknown extends Body ? unknown : { requestBody: { content: { 'application/json': Parsed<Body> } } })
  : never;

type Template<Path extends string> = Path extends `${infer Before}:${infer Name}/${infer Rest}`
  ? `${Before}{${Name}}/${Template<Rest>}`
  : Path extends `${infer Before}:${infer Name}`
    ? `${Before}{${Name}}`
    : Path;

/** Descriptions of the routes that answer with JSON. */
type Documented = Extract<DescriptionOf<TableRoute>, { readonly content: 'json' }>;
type AtPath<Path> = Extract<Documented, { readonly path: Path }>;
type Operations<D extends Documented> = { [Method in D['method']]: Operation<Extract<D, { readonly method: Method }>> };

export type paths = { [Path in Documented['path'] as Template<Path>]: Operations<AtPath<Path>> };
