/** Times the first and the last page of a list of the API. */
import { median } from '../verdict.ts';

export interface PageTimes {
  readonly rows: number;
  readonly pages: number;
  /** Median, in milliseconds. */
  readonly first: number;
  readonly last: number;
}

interface ListPage {
  readonly results: readonly unknown[];
  readonly nextCursor: string | null;
  readonly total: number;
}

const PAGE_SIZE = 200;
const TIMES = 25;

export interface Walk {
  readonly rows: number;
  readonly pages: number;
  /** URLs of the first and of the last page. */
  readonly first: string;
  readonly last: string;
}

/** Walks the whole list by cursor. */
export async function walkPages(url: string): Promise<Walk> {
  const first = withParameters(url, {});
  let last = first;
  let rows = 0;
  let pages = 0;
  for (let next: string | null = first; next !== null; pages++) {
    last = next;
    const page = await get(next);
    rows += page.results.length;
    next = page.nextCursor === null ? null : withParameters(url, { cursor: page.nextCursor });
  }
  return { rows, pages, first, last };
}

/** Walks the list, then requests both ends alternately. */
export async function pageTimes(url: string): Promise<PageTimes> {
  const { rows, pages, first, last } = await walkPages(url);
  const firsts: number[] = [];
  const lasts: number[] = [];
  for (let asked = 0; asked < TIMES; asked++) {
    firsts.push(await timed(first));
    lasts.push(await timed(last));
  }
  return { rows, pages, first: median(firsts), last: median(lasts) };
}

function withParameters(url: string, { cursor }: { readonly cursor?: string }): string {
  const place = cursor === undefined ? 'page=1' : `cursor=${encodeURIComponent(cursor)}`;
  return `${url}${url.includes('?') ? '&' : '?'}pageSize=${PAGE_SIZE}&${place}`;
}

async function timed(url: string): Promise<number> {
  const started = performance.now();
  await get(url);
  return performance.now() - started;
}

async function get(url: string): Promise<ListPage> {
  const response = await fetch(url);
  const text = await response.text();
  if (!response.ok) throw new Error(`${url} answers ${response.status}: ${text.slice(0, 500)}`);
  return JSON.parse(text) as ListPage;
}
