/** Keys that a block's processors will look up; the runner loads them first. */
import { NULL_HASH } from '../../domain/hashes.ts';
import type { DaemonBlock } from '../../schemas/verusd/block.ts';
import { asInteger, asText, decodedObject } from '../decoding/decoded-object.ts';

export interface OutPoint {
  readonly txid: string;
  readonly n: number;
}

export interface ReferencedKeys {
  /** Outputs that are spent; for a reserve transfer, the transfer of the same key is needed too. */
  readonly outpoints: readonly OutPoint[];
  /** Addresses whose balances the block's own outputs touch; the addresses of the spent outputs are needed too. */
  readonly addresses: readonly string[];
  readonly identityAddresses: readonly string[];
  /** Defined currencies, and parents of names. */
  readonly currencyIds: readonly string[];
  /** Exports that an import executes; their transfers are needed too. */
  readonly exports: readonly { readonly txid: string; readonly vout: number }[];
}

/** Without repetitions, in order of appearance. Outputs made in the block itself are left out. */
export function referencedKeys(block: DaemonBlock): ReferencedKeys {
  const made = new Set(block.tx.map((tx) => tx.txid));
  const outpoints: OutPoint[] = [];
  const addresses = new Set<string>();
  const identityAddresses = new Set<string>();
  const currencyIds = new Set<string>();
  const exports = new Map<string, { txid: string; vout: number }>();

  for (const tx of block.tx) {
    for (const { txid, vout: n } of tx.vin) {
      if (txid !== undefined && n !== undefined && !made.has(txid)) outpoints.push({ txid, n });
    }
    for (const { scriptPubKey } of tx.vout) {
      for (const address of scriptPubKey.addresses ?? []) addresses.add(address);

      const identity = decodedObject(scriptPubKey, 'identityprimary');
      addText(identityAddresses, identity?.identityaddress);
      addText(currencyIds, identity?.parent);

      const definition = decodedObject(scriptPubKey, 'currencydefinition');
      addText(currencyIds, definition?.currencyid);
      addText(currencyIds, definition?.parent);

      const executed = decodedObject(scriptPubKey, 'crosschainimport');
      const txid = asText(executed?.exporttxid);
      const vout = asInteger(executed?.exporttxout);
      if (txid !== undefined && vout !== undefined && txid !== NULL_HASH && !made.has(txid)) {
        exports.set(`${txid}:${vout}`, { txid, vout });
      }
    }
  }
  return {
    outpoints,
    addresses: [...addresses],
    identityAddresses: [...identityAddresses],
    currencyIds: [...currencyIds],
    exports: [...exports.values()],
  };
}

function addText(set: Set<string>, value: unknown): void {
  const text = asText(value);
  if (text) set.add(text);
}
