/** Pages of a list as addresses. */
import { address } from '../state/place.ts';

interface PagerProps {
  readonly page: string | null;
  readonly totalPages: string;
}

/** By page number: such an address says where its reader is, and the answer counts the pages. */
export function Pager({ page, totalPages }: PagerProps) {
  const at = Number(page ?? '1');
  const last = Number(totalPages);
  if (at <= 1 && last <= 1) return null;
  const hrefOfPage = (to: number) => {
    const url = new URL(address.value, location.origin);
    url.searchParams.delete('cursor');
    url.searchParams.set('page', String(to));
    return `${url.pathname}${url.search}`;
  };
  return (
    <nav class="pager" aria-label="Pages">
      {at > 1 && (
        <a rel="prev" href={hrefOfPage(at - 1)}>
          Previous page
        </a>
      )}
      <span class="muted" data-derived="page">
        {at.toLocaleString('en-US')} of {last.toLocaleString('en-US')}
      </span>
      {at < last && (
        <a rel="next" href={hrefOfPage(at + 1)}>
          Next page
        </a>
      )}
    </nav>
  );
}
