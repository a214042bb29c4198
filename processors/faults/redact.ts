/** Redacts the parts of a block that cannot be decoded. Each leaves a placeholder, so that no other part moves. */

import { LosslessNumber } from 'lossless-json';
import { isHash, NULL_HASH } from '../../domain/hashes.ts';
import { MOST_SATOSHIS } from '../../domain/satoshi.ts';
import { VerustreamError } from '../../schemas/errors.ts';
import type { DaemonBlock, DaemonInput, DaemonOutput, DaemonTransaction } from '../../schemas/verusd/block.ts';
import { asObject, asText } from '../decoding/decoded-object.ts';

export interface FaultCause {
  readonly code: string;
  readonly message: string;
}

/** A redacted part of a block. */
export interface BlockFault extends FaultCause {
  readonly scope: 'transaction' | 'input' | 'output';
  readonly txIndex: number;
  /** Index of the input or output; null for a transaction. */
  readonly n: number | null;
}

/** Script type of a withheld output, which keeps its coins and addresses as far as they are readable. */
const UNDECODABLE = 'undecodable';

const INTEGER = /^-?\d{1,19}$/;

/** Keys that a look-up may send to the stores. */
export const isKey = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && !/[\n\0]/.test(value);

/** Returns satoshis that an output can contain; undefined for anything else. */
export function readableValue(value: unknown): bigint | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) && value >= 0 ? BigInt(value) : undefined;
  const text = value instanceof LosslessNumber ? value.value : '';
  if (!INTEGER.test(text)) return undefined;
  const satoshis = BigInt(text);
  return satoshis >= 0n && satoshis <= MOST_SATOSHIS ? satoshis : undefined;
}

export function causeOf(error: unknown): FaultCause {
  if (error instanceof VerustreamError) return { code: error.code, message: error.message };
  return { code: 'undecodable', message: error instanceof Error ? `${error.name}: ${error.message}` : String(error) };
}

/** The faulty parts of `block` may have any shape; all other parts are as declared. */
export function withoutFaultyParts(block: DaemonBlock, faults: readonly BlockFault[]): DaemonBlock {
  if (faults.length === 0) return block;
  const byTransaction = Map.groupBy(faults, ({ txIndex }) => txIndex);
  return {
    ...block,
    tx: block.tx.map((tx, txIndex) => {
      const own = byTransaction.get(txIndex);
      if (!own) return tx;
      if (own.some(({ scope }) => scope === 'transaction')) return bareTransaction(tx);
      const hidden = new Set(own.map(({ scope, n }) => `${scope} ${n}`));
      return {
        ...tx,
        vin: tx.vin.map((input, n) => (hidden.has(`input ${n}`) ? bareInput(input) : input)),
        vout: tx.vout.map((output, n) => (hidden.has(`output ${n}`) ? bareOutput(output, n) : output)),
      };
    }),
  };
}

/** Whether a part of the transaction is redacted, so that its sums are meaningless. */
export function isIncomplete({ vin, vout }: DaemonTransaction): boolean {
  return (
    vin.some(({ coinbase, txid }) => coinbase === undefined && txid === undefined) ||
    vout.some(({ scriptPubKey }) => scriptPubKey.type === UNDECODABLE)
  );
}

function bareTransaction(tx: unknown): DaemonTransaction {
  const txid = asObject(tx)?.txid;
  return {
    txid: isHash(txid) ? txid : NULL_HASH,
    overwintered: false,
    version: 0,
    locktime: 0,
    vin: [],
    vout: [],
  };
}

/** Keeps the script, which counts for the transaction's size. */
function bareInput(input: unknown): DaemonInput {
  const hex = asText(asObject(asObject(input)?.scriptSig)?.hex);
  return { sequence: 0, ...(hex !== undefined && { scriptSig: { hex } }) };
}

function bareOutput(output: unknown, n: number): DaemonOutput {
  const { valueSat, scriptPubKey } = asObject(output) ?? {};
  const { hex, addresses } = asObject(scriptPubKey) ?? {};
  const value = readableValue(valueSat) ?? 0n;
  return {
    n,
    value: 0,
    valueSat: new LosslessNumber(String(value)),
    scriptPubKey: {
      type: UNDECODABLE,
      addresses: Array.isArray(addresses) ? addresses.filter(isKey) : [],
      ...(typeof hex === 'string' && { hex }),
    },
  };
}
