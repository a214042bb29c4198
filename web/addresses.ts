/** Maps addresses of the page to views, and views back to addresses. */
import { inertText } from './text/inert.ts';
import { type Query, urlOf } from './text/url-of.ts';
import { type View, type ViewName, views } from './views.ts';

export interface Place {
  readonly name: ViewName;
  readonly parts: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
}

const patterns = Object.entries<View>(views).flatMap(([name, { path, short }]) =>
  [path, ...(short === undefined ? [] : [short])].map((pattern) => ({
    name: name as ViewName,
    segments: pattern.split('/').filter(Boolean),
    isShort: pattern === short,
  })),
);

/** Returns null when no view has this address. */
export function placeOf(path: string, query: string, chains: readonly string[]): Place | null {
  const given = path.split('/').filter(Boolean);
  for (const { name, segments, isShort } of patterns) {
    const parts = match(segments, given, chains);
    const [defaultChain = ''] = chains;
    const ofDefault = isShort ? { chain: defaultChain } : {};
    if (parts) return { name, parts: { ...ofDefault, ...parts }, query: new URLSearchParams(query) };
  }
  return null;
}

function match(segments: readonly string[], given: readonly string[], chains: readonly string[]) {
  if (segments.length !== given.length) return null;
  const parts: Record<string, string> = {};
  for (const [index, segment] of segments.entries()) {
    const text = decoded(given[index] ?? '');
    if (text === null) return null;
    if (!segment.startsWith(':')) {
      if (segment !== text) return null;
    } else if (segment === ':chain' && !chains.includes(text)) return null;
    else parts[segment.slice(1)] = text;
  }
  return parts;
}

function decoded(segment: string): string | null {
  try {
    return decodeURIComponent(segment);
  } catch {
    return null;
  }
}

type PartsOf<Name extends ViewName> = Parameters<(typeof views)[Name]['calls']>[0];

/** `hrefOf('block', { chain: 'vrsc', block: '500' })` → /vrsc/block/500 */
export function hrefOf<Name extends ViewName>(name: Name, parts: PartsOf<Name>, query: Query = {}): string {
  const named: Readonly<Record<string, string>> = parts;
  const path = views[name].path.replace(/:(\w+)/g, (_, part: string) => encodeURIComponent(named[part] ?? ''));
  return urlOf(path, query);
}

/** The view of a place, for code that has only its name. */
export function viewAt({ name }: Place): View {
  return views[name] as View;
}

/** `<thing> · <chain> · verustream`, without invisible characters of the address; `names` replace parts of the address. */
export function titleOf(place: Place, names: Readonly<Record<string, string>> = {}): string {
  const { chain } = place.parts;
  const parts = { ...place.parts, ...names };
  const title = [viewAt(place).title(parts, place.query), ...(chain === undefined ? [] : [chain]), 'verustream'];
  return inertText(title.join(' · '));
}
