/** The optional part `unconfirmed` of an answer: the transactions that wait for a block. */
import type { ApiContext } from '../api-context.ts';
import { queryParameter } from '../http/parameters.ts';
import type { MempoolJournal } from './journal.ts';

export const unconfirmedParameter = queryParameter('true: adds a part `unconfirmed` with what waits for a block', {
  type: 'boolean',
  default: false,
});

interface UnconfirmedRequest {
  readonly params: { readonly chain: string; readonly unconfirmed: boolean };
  readonly api: ApiContext;
}

/** Returns the mempool if the request asks for it, else null. @throws ApiError mempool_unknown */
export function askedMempool({ params, api }: UnconfirmedRequest): MempoolJournal | null {
  return params.unconfirmed ? api.mempools.known(params.chain) : null;
}

/** Part of the ETag, since the mempool changes without a new block. */
export function mempoolTag({ params, api }: UnconfirmedRequest): string {
  return params.unconfirmed ? (api.mempools.of(params.chain)?.version ?? '') : '';
}
