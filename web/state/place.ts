/** The address of the page, the view that it names, and navigation. */
import { computed, signal } from '@preact/signals';
import { type Place, placeOf, titleOf } from '../addresses.ts';
import { keepScroll } from './scroll.ts';
import { chainNames } from './service.ts';

/** Path and query of the address. */
export const address = signal(`${location.pathname}${location.search}`);

export const place = computed<Place | null>(() => {
  const url = new URL(address.value, location.origin);
  return placeOf(url.pathname, url.search, chainNames);
});

/** Counts visits; changing the query in place does not count as one. */
export const visit = signal(0);

/** Whether the stream may change the page; `?live=0` switches it off for comparing the page with the API. */
export const followsStream = new URLSearchParams(location.search).get('live') !== '0';

/** Called on each navigation, after the address has changed. */
const listeners = new Set<() => void>();
export const onNavigation = (listener: () => void) => listeners.add(listener);

export function navigate(href: string): void {
  keepScroll();
  history.pushState(null, '', followsStream ? href : withQuery(href, { live: '0' }));
  arrive();
  scrollTo(0, 0);
}

/** The path and query of an address of this page; null for any other address, such as one of another site. */
export function ownHref(href: string | null): string | null {
  if (href === null || !URL.canParse(href, location.origin)) return null;
  const url = new URL(href, location.origin);
  const isOwn = url.origin === location.origin && placeOf(url.pathname, url.search, chainNames) !== null;
  return isOwn ? `${url.pathname}${url.search}` : null;
}

type QueryChanges = Readonly<Record<string, string | null>>;

/** The address of the current view with other parameters in its query; null removes one. */
export const hrefWith = (changes: QueryChanges): string => withQuery(address.value, changes);

function withQuery(href: string, changes: QueryChanges): string {
  const url = new URL(href, location.origin);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) url.searchParams.delete(name);
    else url.searchParams.set(name, value);
  }
  return `${url.pathname}${url.search}`;
}

/** Changes the query of the current view without adding a step to the history. */
export function replaceQuery(changes: QueryChanges): void {
  const href = hrefWith(changes);
  history.replaceState(history.state, '', `${href}${location.hash}`);
  address.value = href;
}

function arrive(): void {
  visit.value += 1;
  address.value = `${location.pathname}${location.search}`;
  document.title = place.value ? titleOf(place.value) : 'Nothing here · verustream';
  for (const listener of listeners) listener();
}

addEventListener('popstate', arrive);

/** Opens links to views without loading a new document. */
document.addEventListener('click', (event) => {
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return;
  const link = event.target instanceof Element ? event.target.closest('a') : null;
  if (!link || link.origin !== location.origin || link.target !== '' || link.hasAttribute('download')) return;
  if (!placeOf(link.pathname, link.search, chainNames) || link.hash !== '') return;
  event.preventDefault();
  navigate(`${link.pathname}${link.search}`);
});
