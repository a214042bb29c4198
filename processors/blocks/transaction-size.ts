/** Computes the serialised size of a transaction: the verbose block prints every part of it but not the whole. */
import type { DaemonTransaction } from '../../schemas/verusd/block.ts';
import { asObject, asText } from '../decoding/decoded-object.ts';

const HEADER = 4;
const VERSION_GROUP = 4;
const OUTPOINT_AND_SEQUENCE = 36 + 4;
const VALUE = 8;
const LOCK_TIME = 4;
const EXPIRY_HEIGHT = 4;
const SHIELDED_SPEND = 384;
const SHIELDED_OUTPUT = 948;
const BINDING_SIGNATURE = 64;
/** A joinsplit without its proof: two values, anchor, 2 nullifiers, 2 commitments, key, seed, 2 macs, 2 ciphertexts. */
const JOINSPLIT = 8 + 8 + 32 + 64 + 64 + 32 + 32 + 64 + 2 * 601;
const JOINSPLIT_KEY_AND_SIGNATURE = 32 + 64;
const SAPLING_VERSION = 4;
const JOINSPLIT_VERSION = 2;

/** Returns the size in bytes. */
export function transactionSize(tx: DaemonTransaction): number {
  const isSapling = tx.overwintered && tx.version >= SAPLING_VERSION;
  let size = HEADER + (tx.overwintered ? VERSION_GROUP : 0) + compactSize(tx.vin.length) + compactSize(tx.vout.length);
  for (const { coinbase, scriptSig } of tx.vin) size += OUTPOINT_AND_SEQUENCE + script(coinbase ?? scriptSig?.hex);
  for (const { scriptPubKey } of tx.vout) size += VALUE + script(scriptPubKey.hex);
  size += LOCK_TIME + (tx.overwintered ? EXPIRY_HEIGHT : 0);
  if (isSapling) size += VALUE + shielded(tx.vShieldedSpend?.length ?? 0, tx.vShieldedOutput?.length ?? 0);
  if (tx.version >= JOINSPLIT_VERSION) size += joinsplits(tx.vjoinsplit ?? []);
  return size;
}

function shielded(spends: number, outputs: number): number {
  const lists = compactSize(spends) + spends * SHIELDED_SPEND + compactSize(outputs) + outputs * SHIELDED_OUTPUT;
  return lists + (spends + outputs > 0 ? BINDING_SIGNATURE : 0);
}

function joinsplits(list: readonly unknown[]): number {
  let size = compactSize(list.length) + (list.length > 0 ? JOINSPLIT_KEY_AND_SIGNATURE : 0);
  // Proofs of the two proving systems differ in length.
  for (const joinsplit of list) size += JOINSPLIT + hexBytes(asText(asObject(joinsplit)?.proof));
  return size;
}

function script(hex: string | undefined): number {
  const bytes = hexBytes(hex);
  return compactSize(bytes) + bytes;
}

function hexBytes(hex: string | undefined): number {
  return (hex?.length ?? 0) / 2;
}

/** Bytes that a length prefix takes. */
function compactSize(count: number): number {
  if (count < 0xfd) return 1;
  if (count <= 0xffff) return 3;
  return count <= 0xffff_ffff ? 5 : 9;
}
