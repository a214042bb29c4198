/** Names are hashed label by label into 20 bytes, printed as i-addresses: nobody has to be asked what a name's address is. */
import { hash } from 'node:crypto';
import { createBase58check } from '@scure/base';

const IDENTITY_VERSION = 102;
const FORBIDDEN = /[\\/:*?"<>|@.]/;
const MAX_LABEL_BYTES = 64;

const sha256 = (bytes: Uint8Array): Uint8Array => hash('sha256', bytes, 'buffer');
const hash256 = (bytes: Uint8Array): Uint8Array => sha256(sha256(bytes));
const hash160 = (bytes: Uint8Array): Uint8Array => hash('ripemd160', sha256(bytes), 'buffer');
const base58check = createBase58check(sha256);

/** Folds only A–Z: the daemon hashes in the C locale, where 'Ⓐ' and 'É' have no lower case. */
export function foldCase(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}

function labelId(label: string, parent: Uint8Array | null): Uint8Array {
  const hashed = hash256(Buffer.from(foldCase(label), 'utf8'));
  return hash160(parent ? hash256(Buffer.concat([parent, hashed])) : hashed);
}

/** The last label has no parent. */
function idOf(labels: readonly string[], root: Uint8Array | null = null): Uint8Array | null {
  return labels.reduceRight<Uint8Array | null>((parent, label) => labelId(label, parent), root);
}

/** i-address of 20 bytes. */
export function toAddress(id: Uint8Array): string {
  return base58check.encode(Uint8Array.of(IDENTITY_VERSION, ...id));
}

function isLabel(label: string): boolean {
  if (label === '' || label !== label.trim() || label.includes('  ')) return false;
  return !FORBIDDEN.test(label) && Buffer.byteLength(label, 'utf8') <= MAX_LABEL_BYTES;
}

/** 25 bytes that begin with 102, in base58. */
const ADDRESS_CHARACTERS = 34;

/** True for base58check with the version byte of an i-address. */
export function isIdentityAddress(text: string): boolean {
  if (text.length !== ADDRESS_CHARACTERS) return false; // decoding takes the square of the length
  try {
    const bytes = base58check.decode(text);
    return bytes.length === 21 && bytes[0] === IDENTITY_VERSION;
  } catch {
    return false;
  }
}

/**
 * `alice`, `alice@`, `sub.alice.VRSC@`, `Bridge.vETH` → i-address. On every chain of a network its root's name is appended
 * where it is not the last label: on vARRR too `alice` is the one of VRSC, and its own is `alice.vARRR`. A trailing dot
 * (`vETH.`) says that the name has no root. What is written behind the `@` (`alice@VRSC`) changes nothing, as in the daemon.
 * An i-address is its own. Null for what cannot be a name.
 */
export function nameToAddress(name: string, networkRoot: string): string | null {
  if (isIdentityAddress(name)) return name;
  const [own = '', explicitChain = '', ...more] = name.split('@');
  if (more.length > 0 || explicitChain !== explicitChain.trim()) return null;
  const labels = own.split('.');
  if (labels.length > 1 && labels.at(-1) === '') labels.pop();
  else if (foldCase(labels.at(-1) ?? '') !== foldCase(networkRoot)) labels.push(networkRoot);
  if (!labels.every(isLabel)) return null;
  const id = idOf(labels);
  return id && toAddress(id);
}

/**
 * VDXF key of a qualified name: `vrsc::data.type.string` → i-address. Without `::` the name stands in the network root's
 * namespace; a namespace gets no root appended. Null for what cannot be such a name.
 */
export function vdxfKey(qualifiedName: string, networkRoot: string): string | null {
  const parts = qualifiedName.split('::');
  const [namespace = '', name = ''] = parts.length === 1 ? [networkRoot, ...parts] : parts;
  if (parts.length > 2) return null;
  const spaces = namespace.split('.');
  const labels = name.split('.');
  if (![...spaces, ...labels].every(isLabel)) return null;
  const id = idOf(labels, labelId('::', idOf(spaces)));
  return id && toAddress(id);
}
