/** Checks the properties of a parsed block that every processor, look-up and table relies on, and redacts parts that fail. */

import { isHash } from '../../domain/hashes.ts';
import { INT32_MAX } from '../../schemas/integers.ts';
import type { DaemonBlock } from '../../schemas/verusd/block.ts';
import { asObject } from '../decoding/decoded-object.ts';
import { type BlockFault, type FaultCause, isKey, readableValue, withoutFaultyParts } from './redact.ts';

/** A block of the log, as far as it can be read. */
export interface ReadableBlock {
  /** Without the parts that have a fault; null when nothing can be read. */
  readonly block: DaemonBlock | null;
  /** As it was parsed. */
  readonly raw: unknown;
  readonly faults: readonly BlockFault[];
  /** Why `block` is null. */
  readonly cause: FaultCause | null;
}

export function unreadable(raw: unknown, cause: FaultCause): ReadableBlock {
  return { block: null, raw, faults: [], cause };
}

/** `previousHash` is the hash of the block before it, from the log; null for genesis. */
export function readableBlock(raw: unknown, previousHash: string | null): ReadableBlock {
  const wrong = blockFault(raw, previousHash);
  if (wrong !== null) return unreadable(raw, { code: 'malformed', message: wrong });
  const block = raw as DaemonBlock;
  const faults: BlockFault[] = [];
  const seen = new Set<unknown>();
  for (const [txIndex, tx] of block.tx.entries()) {
    const at = (scope: BlockFault['scope'], n: number | null, message: string): void => {
      faults.push({ scope, txIndex, n, code: 'malformed', message });
    };
    const message = transactionFault(tx, seen);
    if (message !== null) {
      at('transaction', null, message);
      continue;
    }
    for (const [n, input] of tx.vin.entries()) {
      const why = inputFault(input);
      if (why !== null) at('input', n, why);
    }
    for (const [n, output] of tx.vout.entries()) {
      const why = outputFault(output, n);
      if (why !== null) at('output', n, why);
    }
  }
  return { block: withoutFaultyParts(block, faults), raw, faults, cause: null };
}

function blockFault(raw: unknown, previousHash: string | null): string | null {
  const { hash, height, previousblockhash, time, tx } = asObject(raw) ?? {};
  if (!isHash(hash)) return 'the hash of the block is missing or malformed';
  if (!isInt4(height)) return 'the height of the block is missing or malformed';
  if ((previousblockhash ?? null) !== previousHash)
    return `the block does not name ${previousHash ?? 'nothing'} as its parent`;
  if (!Number.isSafeInteger(time)) return 'the time of the block is missing or malformed';
  return Array.isArray(tx) && tx.length > 0 ? null : 'the block has no list of transactions';
}

function transactionFault(tx: unknown, seen: Set<unknown>): string | null {
  const { txid, vin, vout, vShieldedOutput, vjoinsplit } = asObject(tx) ?? {};
  if (!isHash(txid)) return 'the txid of the transaction is missing or malformed';
  if (seen.has(txid)) return 'the block already holds a transaction with this txid';
  seen.add(txid);
  if (!Array.isArray(vin) || !Array.isArray(vout)) return 'the inputs or outputs of the transaction are not lists';
  const hasNoPayee = [vout, vShieldedOutput, vjoinsplit].every((paid) => !Array.isArray(paid) || paid.length === 0);
  return hasNoPayee ? 'the transaction has no output' : null;
}

function inputFault(raw: unknown): string | null {
  const input = asObject(raw);
  if (!input) return 'the input is not an object';
  const { coinbase, txid, vout } = input;
  if (txid === undefined && vout === undefined && typeof coinbase === 'string') return null;
  return isHash(txid) && isInt4(vout) ? null : 'the input does not name an output';
}

function outputFault(raw: unknown, n: number): string | null {
  const output = asObject(raw);
  if (!output) return 'the output is not an object';
  if (output.n !== n) return `the number of the output is ${String(output.n)}`;
  if (readableValue(output.valueSat) === undefined) return 'valueSat is not an amount of satoshis';
  const script = asObject(output.scriptPubKey);
  if (!script) return 'scriptPubKey is not an object';
  if (!isKey(script.type)) return 'the type of the script is missing or malformed';
  const { addresses } = script;
  if (addresses === undefined || (Array.isArray(addresses) && addresses.every(isKey))) return null;
  return 'the addresses of the script are missing or malformed';
}

function isInt4(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= INT32_MAX;
}
