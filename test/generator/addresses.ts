/** Addresses with valid checksums, made from labels instead of keys. */
import { createHash } from 'node:crypto';
import { createBase58check } from '@scure/base';
import { nameToAddress } from '../../domain/names.ts';

export const NETWORK_ROOT = 'VRSCTEST';
export const NATIVE = 'iJhCezBExJHvtyH3fGhNnt2NhU4Ztkf2yq';

const KEY_VERSION = 60;
const SCRIPT_VERSION = 85;
const IDENTITY_VERSION = 102;
const INDEX_VERSION = 137;

const sha256 = (bytes: Uint8Array): Uint8Array => createHash('sha256').update(bytes).digest();
const base58check = createBase58check(sha256);

export interface KeyAddress {
  readonly address: string;
  /** Hash of its key, hex. */
  readonly hash: string;
}

const known = new Map<string, KeyAddress>();
const byAddress = new Map<string, KeyAddress>();

function labelled(version: number, label: string): KeyAddress {
  const key = `${version}/${label}`;
  let made = known.get(key);
  if (!made) {
    const hash = createHash('sha1').update(key).digest();
    made = { address: base58check.encode(Uint8Array.of(version, ...hash)), hash: hash.toString('hex') };
    known.set(key, made);
    byAddress.set(made.address, made);
  }
  return made;
}

const keys = new Map<number, KeyAddress>();

/** R-address of the n-th wallet. */
export function keyAddress(index: number): KeyAddress {
  let key = keys.get(index);
  if (!key) {
    key = labelled(KEY_VERSION, `${index}`);
    keys.set(index, key);
  }
  return key;
}

/** b-address of the n-th script. */
export const scriptAddress = (index: number): KeyAddress => labelled(SCRIPT_VERSION, `${index}`);

/** Index address of a control output, which the daemon shows when the output is spent. */
export const indexAddress = (label: string): string => labelled(INDEX_VERSION, label).address;

/** An i-address without an identity, for keys of content maps. */
export const contentKey = (label: string): string => labelled(IDENTITY_VERSION, label).address;

/** i-address of a name under the root currency, or under one of its currencies, which is given by its leaf name. */
export function identityAddressOf(name: string, parentName: string | null): string {
  const address = nameToAddress(parentName === null ? name : `${name}.${parentName}`, NETWORK_ROOT);
  if (address === null) throw new RangeError(`not a name: ${JSON.stringify(name)}`);
  return address;
}

/** Returns the key or script of an address that was made here; undefined for identities. */
export const addressBehind = (address: string): KeyAddress | undefined => byAddress.get(address);
