/** Kinds of a transaction, read from its outputs; it may have several. */
import { EXPORT_FLAGS, IMPORT_FLAGS, TRANSFER_FLAGS } from '../../domain/flags.ts';
import { NULL_HASH } from '../../domain/hashes.ts';
import { SYSTEM_ADDRESSES } from '../../domain/system-addresses.ts';
import type { TransactionType } from '../../schemas/facts.ts';
import type { DaemonScript, DaemonTransaction } from '../../schemas/verusd/block.ts';
import { asInteger, asObject, type DecodedObject, decodedObject } from '../decoding/decoded-object.ts';

const NOTARIZATIONS = ['acceptednotarization', 'earnednotarization', 'pbaasnotarization', 'finalizenotarization'];

export interface TransactionPlace {
  readonly isCoinbase: boolean;
  /** The last transaction of a stake block. */
  readonly isStake: boolean;
}

/** Every kind that fits, the most specific first; never empty. Kinds of reserve transfers follow the order of outputs. */
export function transactionKinds(tx: DaemonTransaction, place: TransactionPlace): readonly TransactionType[] {
  const scripts = tx.vout.map((output) => output.scriptPubKey);
  const registered = new Set(decodedIn(scripts, 'identityreservation').map((reservation) => reservation.nameid));
  const identities = decodedIn(scripts, 'identityprimary');
  const isRegistration = identities.some((identity) => registered.has(identity.identityaddress));
  const commitment = scripts[0] && decodedObject(scripts[0], 'commitmenthash');
  const imports = decodedIn(scripts, 'crosschainimport');
  const exports = decodedIn(scripts, 'crosschainexport');

  const kinds = new Set<TransactionType>();
  if (place.isCoinbase) kinds.add('coinbase');
  if (place.isStake) kinds.add('stake');
  if (imports.some(executesTransfers)) kinds.add('import');
  if (exports.some(gathersTransfers)) kinds.add('export');
  if (scripts.some((script) => 'currencydefinition' in script)) kinds.add('currency_definition');
  if (identities.length > 0) kinds.add(isRegistration ? 'identity_registration' : 'identity_update');
  if (commitment && commitment.hash !== NULL_HASH) kinds.add('name_commitment');
  for (const transfer of decodedIn(scripts, 'reservetransfer')) kinds.add(transferKind(transfer));
  if (scripts.some(isOffer)) kinds.add('offer');
  if (scripts.some(isNotarization)) kinds.add('notarization');
  // A payment of tokens is more specific than `shielded`; a payment of coins alone is not.
  if (kinds.size === 0 && scripts.some((script) => 'reserveoutput' in script)) kinds.add('transfer');
  if (isShielded(tx)) kinds.add('shielded');
  if (kinds.size === 0) kinds.add('transfer');
  return [...kinds];
}

function decodedIn(scripts: readonly DaemonScript[], kind: string): DecodedObject[] {
  return scripts.map((script) => decodedObject(script, kind)).filter((decoded) => decoded !== undefined);
}

/** An import that opens a definition's thread, or only continues the source system's thread, executes nothing. */
function executesTransfers(object: DecodedObject): boolean {
  return (flagsOf(object) & (IMPORT_FLAGS.DEFINITION | IMPORT_FLAGS.SYSTEM_THREAD)) === 0;
}

/** An import from another chain repeats the export that it executes, transfers included. */
function gathersTransfers(object: DecodedObject): boolean {
  return (flagsOf(object) & EXPORT_FLAGS.DEFINITION) === 0 && !('transfers' in object);
}

function transferKind(transfer: DecodedObject): TransactionType {
  const flags = flagsOf(transfer);
  if (flags & TRANSFER_FLAGS.MINT) return 'mint';
  if (flags & TRANSFER_FLAGS.BURN) return 'burn';
  if (flags & TRANSFER_FLAGS.PRECONVERT) return 'preconversion';
  if (flags & TRANSFER_FLAGS.CONVERT) return 'conversion';
  return flags & TRANSFER_FLAGS.CROSS_SYSTEM ? 'bridge' : 'transfer';
}

function flagsOf(object: DecodedObject): number {
  return asInteger(object.flags) ?? 0;
}

/** An offer is locked in an output that also pays the keys by which the offer is found. */
function isOffer(script: DaemonScript): boolean {
  const addresses = script.addresses ?? [];
  const commitment = decodedObject(script, 'commitmenthash');
  if (commitment) return commitment.hash === NULL_HASH || addresses.length > 1;
  if (!decodedObject(script, 'identityprimary')) return false;
  return addresses.some((address) => !address.startsWith('i') && !SYSTEM_ADDRESSES.has(address));
}

/** Evidence that refers to no output carries user data instead. */
function isNotarization(script: DaemonScript): boolean {
  const evidence = decodedObject(script, 'notaryevidence');
  return NOTARIZATIONS.some((kind) => kind in script) || (!!evidence && asObject(evidence.output)?.txid !== NULL_HASH);
}

function isShielded(tx: DaemonTransaction): boolean {
  return [tx.vShieldedSpend, tx.vShieldedOutput, tx.vjoinsplit].some((list) => list !== undefined && list.length > 0);
}
