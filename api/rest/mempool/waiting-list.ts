/** A page of waiting transactions or conversions, newest first. */

import type { ApiContext } from '../../api-context.ts';
import { MAX_PAGE_SIZE, pageParameters } from '../../http/paging.ts';
import { type ParameterValues, queryParameter } from '../../http/parameters.ts';
import type { LookStatus, MempoolJournal } from '../../mempool/journal.ts';
import { integer } from '../../schema/json-schema.ts';
import { blockState } from '../../state/chain-state.ts';

/** More pages than there are ever rows. */
const MOST_PAGES = 50_000;

export const waitingPage = {
  page: queryParameter('Page, from 1', { ...integer, minimum: 1, maximum: MOST_PAGES, default: 1 }),
  pageSize: pageParameters.pageSize,
};

export function pageOf<Row, Printed>(
  rows: readonly Row[],
  { page, pageSize: asked }: ParameterValues<typeof waitingPage>,
  print: (row: Row) => Printed,
) {
  const pageSize = Math.min(asked, MAX_PAGE_SIZE);
  const shown = rows.slice((page - 1) * pageSize, page * pageSize);
  return {
    results: shown.map(print),
    page,
    pageSize,
    total: rows.length,
    totalPages: Math.ceil(rows.length / pageSize),
  };
}

export function statusAnswer({ chain, count, last }: MempoolJournal & { readonly last: LookStatus }) {
  const { at, listed, truncated } = last;
  return { chain, checkedAt: new Date(at).toISOString(), waiting: count, listed, truncated };
}

/** Names the indexed block that the mempool was compared with. */
export function stateHeaders(
  api: Pick<ApiContext, 'chain'>,
  { chain, last: { index } }: MempoolJournal & { readonly last: LookStatus },
): Record<string, string> {
  return index ? { 'X-Chain-State': blockState(api, chain, index) } : {};
}
