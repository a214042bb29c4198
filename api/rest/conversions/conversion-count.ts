/** Counts the conversions that match a filter. */
import type { ApiContext } from '../../api-context.ts';
import { countRows, countRowsByHeight } from '../../http/count-rows.ts';
import type { Snapshot } from '../../state/snapshot.ts';
import { type ClosedConversions, countClosed } from './closed-conversions.ts';
import { armsOf, type ConversionFilter } from './conversion-filters.ts';
import { amongConfigured } from './transfer-ends.ts';

/** `closed` is null if Postgres counts all of them. */
export async function countConversions(
  read: Snapshot,
  api: ApiContext,
  filter: ConversionFilter,
  closed: ClosedConversions | null,
): Promise<number> {
  const { chain, values, conditions, isOfRequest } = filter;
  if (filter.isPlain) {
    const rows = `transfers t WHERE ${conditions}`;
    if (!isOfRequest) return countRows(read, api, null, { rows, values, isOpenEnded: true });
    return countRowsByHeight(read, api, chain, 't.request_height', { rows, values, isOpenEnded: true });
  }
  const rows = `(${amongConfigured(read.state, armsOf(filter, closed).join(' UNION ALL '))}) AS matching`;
  const open = await countRows(read, api, null, { rows, values, isOpenEnded: true });
  return closed ? open + (await countClosed(api, closed)) : open;
}
