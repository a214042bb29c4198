/** The part of an answer that says what waits for a block: there only when it is asked for. */
import type { ApiContext } from '../api-context.ts';
import { queryParameter } from '../http/parameters.ts';
import type { MempoolJournal } from './journal.ts';

export const unconfirmedParameter = queryParameter('true: with a part `unconfirmed`, of what waits for a block', {
  type: 'boolean',
  default: false,
});

interface UnconfirmedRequest {
  readonly params: { readonly chain: string; readonly unconfirmed: boolean };
  readonly api: ApiContext;
}

/** The mempool, if it is asked for. @throws ApiError mempool_unknown */
export function askedMempool({ params, api }: UnconfirmedRequest): MempoolJournal | null {
  return params.unconfirmed ? api.mempools.known(params.chain) : null;
}

/** For the ETag: what waits changes without a block. */
export function mempoolTag({ params, api }: UnconfirmedRequest): string {
  return params.unconfirmed ? (api.mempools.of(params.chain)?.version ?? '') : '';
}
