/** A list by page, by cursor or as a stream of all its rows: a route that is data but for what its parameters select. */
import type { JsonSchema, ObjectOf, Properties, Typed } from '../schema/json-schema.ts';
import { page } from '../schema/json-schema.ts';
import { type ListSource, type Page, pageParameters, readPage } from './paging.ts';
import type { Parameter, Parameters, ParameterValues } from './parameters.ts';
import type { DescribedRoute, Description, Fitting, StateCall, StateRoute } from './route.ts';

type ListParameters = Parameters & { readonly chain: Parameter<string> };

type ListOf<R extends JsonSchema, B extends Properties> = Typed<ReturnType<typeof page<R, B>>>;

/** Parameters that every list has. */
type PageRequest = ParameterValues<typeof pageParameters> & { readonly chain: string };

interface Selection<Row, Shown, Beside> extends Omit<ListSource<Row, Shown>, 'chain' | 'reader' | 'key'> {
  /** Members of the answer before those of the page. */
  readonly beside?: (page: Page<Shown>) => Beside;
}

type BesideFor<B> = [keyof B] extends [never] ? unknown : { readonly beside: unknown };

interface ListRoute<P extends ListParameters, R extends JsonSchema, B extends Properties, Row, Shown, Beside>
  extends Pick<StateRoute<P>, 'path' | 'summary' | 'parameters' | 'extraTag'>,
    Pick<ListSource<Row, Shown>, 'reader' | 'key'> {
  /** Schema of a row as it is shown. */
  readonly row: R;
  /** Schemas of the members before the page. */
  readonly beside?: B;
  /** Whether other chains can change a row. */
  readonly scope?: StateRoute['scope'];
  readonly select: (call: StateCall<P>) => Promise<Selection<Row, Shown, Beside> & BesideFor<B>>;
}

export function listRoute<
  const P extends ListParameters,
  const R extends JsonSchema,
  Row,
  const Shown extends Typed<R>,
  const B extends Properties = Record<never, never>,
  const Beside extends ObjectOf<B> = ObjectOf<B>,
  const Path extends string = string,
>(
  list: ListRoute<P, R, B, Row, Shown, Beside> &
    Fitting<Shown, Typed<R>> &
    Fitting<Beside, ObjectOf<B>> & { readonly path: Path },
): StateRoute & DescribedRoute<Description<Path, 'get', 200, P & typeof pageParameters, ListOf<R, B>>> {
  const { row, beside, parameters, reader, key, select, ...route }: ListRoute<P, R, B, Row, Shown, Beside> = list;
  const whole = {
    scope: 'chain',
    ...route,
    parameters: { ...parameters, ...pageParameters },
    response: page(row, beside),
    weight: 2,
    tier: null,
    cache: 'state',
    async handler(call: StateCall<P> & { readonly params: PageRequest }) {
      const { beside: before, ...selected }: Selection<Row, Shown, Beside> = await select(call);
      const { chain } = call.params;
      const found = await readPage(call.read, call.params, { ...selected, chain, reader, key });
      return { ...before?.(found), ...found };
    },
  };
  return whole as unknown as StateRoute;
}
