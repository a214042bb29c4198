/** Synthetic blocks for cases that the recording lacks. Their text passes through the parser of real blocks. */
import { parseExact } from '../../../domain/json/exact-json.ts';
import type { DaemonBlock, DaemonOutput, DaemonTransaction } from '../../../schemas/verusd/block.ts';

/** An output of `valueSat` satoshis; `script` is the JSON of scriptPubKey without the members that every script has. */
export function output(n: number, valueSat: string, script: string): DaemonOutput {
  return parseExact(`{"value":0,"valueSat":${valueSat},"n":${n},"scriptPubKey":${script}}`) as DaemonOutput;
}

/** JSON of a script that pays one key. */
export function payTo(address: string): string {
  return JSON.stringify({ type: 'pubkeyhash', spendableoutput: true, reqSigs: 1, addresses: [address], hex: '00' });
}

/** JSON of a script that the daemon decoded as `kind`; `object` is the JSON of the decoded object. */
export function decodedAs(kind: string, object: string, addresses: readonly string[] = []): string {
  return `{"type":"cryptocondition","${kind}":${object},"spendableoutput":false,"addresses":${JSON.stringify(addresses)},"hex":"00"}`;
}

/** A transaction that spends `inputs` ("txid:n"); a coinbase if there are none. */
export function transaction(
  txid: string,
  inputs: readonly string[],
  vout: readonly DaemonOutput[],
  more: Partial<DaemonTransaction> = {},
): DaemonTransaction {
  const spends = inputs.map((input) => {
    const [spent = '', n] = input.split(':');
    return { txid: spent, vout: Number(n), scriptSig: { hex: '' }, sequence: 0 };
  });
  const vin = spends.length > 0 ? spends : [{ coinbase: '51', sequence: 0 }];
  return { txid, overwintered: true, version: 4, locktime: 0, expiryheight: 0, vin, vout, ...more };
}

/** A proof-of-work block with the hash `b<height>`, one minute after the previous one. */
export function block(height: number, tx: readonly DaemonTransaction[], more: Partial<DaemonBlock> = {}): DaemonBlock {
  return {
    hash: `b${height}`,
    height,
    ...(height > 0 ? { previousblockhash: `b${height - 1}` } : {}),
    time: 1_700_000_000 + 60 * height,
    size: 0,
    version: 4,
    merkleroot: '',
    nonce: '',
    bits: '',
    difficulty: 1,
    chainwork: '',
    chainstake: '',
    validationtype: 'work',
    tx,
    ...more,
  };
}
