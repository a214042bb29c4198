/** Maps a conversion to the address of its view. */
import { hrefOf } from './addresses.ts';

interface Conversion {
  readonly chain: string;
  readonly txid: string;
  readonly vout: string;
  readonly sourceSystemId: string | null;
  readonly importTxid: string | null;
}

/** For a conversion requested on another system the address also names the import transaction that executed it. */
export function conversionHref({ chain, txid, vout, sourceSystemId, importTxid }: Conversion): string {
  return hrefOf('conversion', { chain, txid, vout }, { in: sourceSystemId === null ? null : importTxid });
}
