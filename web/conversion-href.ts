/** Conversion → the address of its view. */
import { hrefOf } from './addresses.ts';

interface Conversion {
  readonly chain: string;
  readonly txid: string;
  readonly vout: string;
  readonly sourceSystemId: string | null;
  readonly importTxid: string | null;
}

/** One that was asked for on another system stands in the transaction that executed it. */
export function conversionHref({ chain, txid, vout, sourceSystemId, importTxid }: Conversion): string {
  return hrefOf('conversion', { chain, txid, vout }, { in: sourceSystemId === null ? null : importTxid });
}
