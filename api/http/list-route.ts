/** Makes the route of a list that is read by page, by cursor or as a stream of all rows. Only `select` is code, the rest is data. */
import type { JsonSchema, ObjectOf, PageOf, Properties, Typed } from '../schema/json-schema.ts';
import { page } from '../schema/json-schema.ts';
import { type HeightRange, heightParameters } from './height-range.ts';
import type { ListSource } from './list-source.ts';
import { pageLinks } from './page-links.ts';
import { pageParameters, readPage } from './paging.ts';
import type { Parameter, Parameters, ParameterValues } from './parameters.ts';
import {
  type DescribedRoute,
  type Description,
  type Fitting,
  HeadedValue,
  type StateCall,
  type StateRoute,
} from './route.ts';

type ListParameters = Parameters & { readonly chain: Parameter<string> };

type ListOf<R extends JsonSchema, B extends Properties> = Typed<ReturnType<typeof page<R, B>>>;

/** Parameters of every list. */
type CommonParameters = typeof heightParameters & typeof pageParameters;
type ListRequest = ParameterValues<CommonParameters> & { readonly chain: string };

/** A call of a list: its own parameters, and the range of heights of the requested rows. */
interface ListCall<P extends Parameters> extends StateCall<P> {
  readonly heights: HeightRange;
}

interface Selection<Row, Shown, Members> extends Omit<ListSource<Row, Shown>, 'chain' | 'reader' | 'key'> {
  /** Replaces the list's own key when its parameters decide the order. */
  readonly key?: ListSource<Row, Shown>['key'];
  /** Members of the answer before those of the page. */
  readonly members?: (page: PageOf<Shown>) => Members;
}

type MembersFor<B> = [keyof B] extends [never] ? unknown : { readonly members: unknown };

interface ListRoute<P extends ListParameters, R extends JsonSchema, B extends Properties, Row, Shown, Members>
  extends Pick<StateRoute<P>, 'path' | 'summary' | 'parameters' | 'extraTag'>,
    Pick<ListSource<Row, Shown>, 'reader' | 'key'> {
  /** Schema of a row as it is shown. */
  readonly row: R;
  /** Schemas of the members before those of the page. */
  readonly members?: B;
  /** Whether other chains can change a row. */
  readonly scope?: StateRoute['scope'];
  readonly select: (call: ListCall<P>) => Promise<Selection<Row, Shown, Members> & MembersFor<B>>;
}

export function listRoute<
  const P extends ListParameters,
  const R extends JsonSchema,
  Row,
  const Shown extends Typed<R>,
  const B extends Properties = Record<never, never>,
  const Members extends ObjectOf<B> = ObjectOf<B>,
  const Path extends string = string,
>(
  list: ListRoute<P, R, B, Row, Shown, Members> &
    Fitting<Shown, Typed<R>> &
    Fitting<Members, ObjectOf<B>> & { readonly path: Path },
): StateRoute & DescribedRoute<Description<Path, 'get', 200, P & CommonParameters, ListOf<R, B>>> {
  const { row, members, parameters, reader, key, select, ...route }: ListRoute<P, R, B, Row, Shown, Members> = list;
  const whole = {
    scope: 'chain',
    ...route,
    parameters: { ...heightParameters, ...parameters, ...pageParameters },
    response: page(row, members),
    headers: ['Link'] as const,
    weight: 2,
    cache: 'state',
    async handler(call: StateCall<P> & { readonly params: ListRequest }) {
      const { chain, fromHeight, toHeight } = call.params;
      const heights = { fromHeight, toHeight };
      const { members: membersOf, ...selected }: Selection<Row, Shown, Members> = await select({ ...call, heights });
      const uncounted = call.rowsAlone && { total: async () => 0 };
      const found = await readPage(call.read, call.params, { key, ...selected, ...uncounted, chain, reader });
      return new HeadedValue({ ...membersOf?.(found), ...found }, { Link: pageLinks(whole, call.params, found) });
    },
  };
  return whole as unknown as StateRoute;
}
