/** Names and VDXF keys are hashed label by label into 20 bytes and printed as i-addresses, so any name's address can be computed. */
import { isIdentityAddress, toAddress } from './addresses.ts';
import { hash160, hash256 } from './hash160.ts';

/** Suffix of the names of currencies that come from Ethereum. */
export const BRIDGED_SUFFIX = '.vETH';
const FORBIDDEN = /[\\/:*?"<>|@.]/;
const MAX_LABEL_BYTES = 64;

/** Folds only A–Z: the daemon hashes in the C locale, where 'Ⓐ' and 'É' have no lower case. */
export function foldCase(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}

function labelId(label: string, parent: Uint8Array | null): Uint8Array {
  const hashed = hash256(Buffer.from(foldCase(label), 'utf8'));
  return hash160(parent ? hash256(Buffer.concat([parent, hashed])) : hashed);
}

/** Hashes from the last label to the first; the parent of the last label is `root`. */
function idOf(labels: readonly string[], root: Uint8Array | null = null): Uint8Array | null {
  return labels.reduceRight<Uint8Array | null>((parent, label) => labelId(label, parent), root);
}

function isLabel(label: string): boolean {
  if (label === '' || label !== label.trim() || label.includes('  ')) return false;
  return !FORBIDDEN.test(label) && Buffer.byteLength(label, 'utf8') <= MAX_LABEL_BYTES;
}

/**
 * `alice`, `alice@`, `sub.alice.VRSC@`, `Bridge.vETH` → i-address. The root of the network is appended unless it is the last
 * label: on vARRR, `alice` is the identity of VRSC, and vARRR's own is `alice.vARRR`. A trailing dot (`vETH.`) marks a name
 * without root. Text after the `@` (`alice@VRSC`) is ignored, as in the daemon. An i-address is returned as it is. Returns
 * null for a text that cannot be a name.
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
 * VDXF key of a qualified name: `vrsc::data.type.string` → i-address. Without `::` the name belongs to the namespace of the
 * network's root; no root is appended to a namespace. Returns null for a text that cannot be such a name.
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
