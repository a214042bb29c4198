/** Links to the pages of a list. */
import { hrefWith } from '../state/place.ts';

/** The API refuses pages that end beyond this row: page_too_deep. */
const DEEPEST_ROW = 10_000;

export interface PagerProps {
  readonly page: string | null;
  readonly pageSize: string;
  readonly totalPages: string;
}

/** Links by page number, so that the address shows which page the reader is on; the answer gives the number of pages. */
export function Pager({ page, pageSize, totalPages }: PagerProps) {
  const at = Number(page ?? '1');
  const last = Number(totalPages);
  const deepest = Math.floor(DEEPEST_ROW / Number(pageSize));
  if (at <= 1 && last <= 1) return null;
  const hrefOfPage = (to: number) => hrefWith({ cursor: null, page: String(to) });
  return (
    <nav class="pager" aria-label="Pages">
      {at > 1 && (
        <a rel="prev" href={hrefOfPage(Math.max(1, Math.min(at - 1, last)))}>
          Previous page
        </a>
      )}
      <span class="muted" data-derived="page">
        {at.toLocaleString('en-US')} of {last.toLocaleString('en-US')}
      </span>
      {at < Math.min(last, deepest) && (
        <a rel="next" href={hrefOfPage(at + 1)}>
          Next page
        </a>
      )}
      {at === deepest && at < last && <span class="muted">The rest is in the API, by cursor.</span>}
    </nav>
  );
}
