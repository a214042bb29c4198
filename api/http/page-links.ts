/** The `Link` header of a page (RFC 8288): the first, the previous and the next page of its list. */
import type { PageOf } from '../schema/json-schema.ts';
import type { Parameters } from './parameters.ts';

type Values = Readonly<Record<string, unknown>>;

/** Addresses are relative to the host and repeat every parameter of the request but `page` and `cursor`. */
export function pageLinks(
  { path, parameters }: { readonly path: string; readonly parameters: Parameters },
  params: Values,
  { nextCursor, prevCursor }: Pick<PageOf<unknown>, 'nextCursor' | 'prevCursor'>,
): string {
  const address = path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(String(params[name])));
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    const isAsked = parameters[name]?.in !== 'path' && value !== undefined;
    if (isAsked && name !== 'page' && name !== 'cursor') query.set(name, String(value));
  }
  const link = (rel: string, cursor: string | null) => {
    const all = new URLSearchParams(query);
    if (cursor !== null) all.set('cursor', cursor);
    return `<${address}${all.size === 0 ? '' : `?${all}`}>; rel="${rel}"`;
  };
  return [
    link('first', null),
    ...(prevCursor === null ? [] : [link('prev', prevCursor)]),
    ...(nextCursor === null ? [] : [link('next', nextCursor)]),
  ].join(', ');
}
