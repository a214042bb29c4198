/** Maps a search result to the address of its view. */
import { hrefOf } from './addresses.ts';
import type { AnswerOf } from './calls.ts';

export type Found = AnswerOf<'/api/search/'>['results'][number];

export function foundHref({ type, id, chain, url }: Found): string {
  switch (type) {
    case 'block':
      return hrefOf('block', { chain, block: new URL(url, location.origin).pathname.split('/').at(-1) ?? id });
    case 'tx':
      return hrefOf('tx', { chain, txid: id });
    case 'address':
      return hrefOf('address', { chain, addr: id });
    case 'identity':
      return hrefOf('identity', { chain, name: id });
    case 'currency':
    case 'basket':
      return hrefOf('currency', { chain, id });
  }
}
