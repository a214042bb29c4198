/** Transparent addresses: a version byte and a hash of 20 bytes in base58check. */
import { createBase58check } from '@scure/base';
import { hash160, sha256 } from './hash160.ts';

/** Sources of regular expressions for the look of addresses; they do not prove the checksum. */
const BASE58 = '[1-9A-HJ-NP-Za-km-z]{33}';
/** i-address of an identity or a currency. */
export const I_ADDRESS = `i${BASE58}`;
/** Address of a public key hash. */
export const R_ADDRESS = `R${BASE58}`;
/** i, R or b (script hash). */
export const TRANSPARENT_ADDRESS = `[Rbi]${BASE58}`;

const KEY_VERSION = 60;
const IDENTITY_VERSION = 102;
/** Version bytes of transparent addresses: R, b, i, x, quantum. */
const VERSIONS: ReadonlySet<number> = new Set([KEY_VERSION, 85, IDENTITY_VERSION, 137, 58]);
const ADDRESS_BYTES = 21;
/** Characters of 25 bytes in base58 at most; longer texts are refused since decoding takes the square of the length. */
const MAX_CHARACTERS = 35;
/** 25 bytes that begin with 102, in base58. */
const I_ADDRESS_CHARACTERS = 34;

const base58check = createBase58check(sha256);

/** i-address of 20 bytes. */
export function toAddress(id: Uint8Array): string {
  return base58check.encode(Uint8Array.of(IDENTITY_VERSION, ...id));
}

/** R-address of a public key. */
export function keyAddress(publicKey: Uint8Array): string {
  return base58check.encode(Uint8Array.of(KEY_VERSION, ...hash160(publicKey)));
}

/** The hash in an address, without the version byte. @throws Error for what is not base58check */
export function addressHash(address: string): Uint8Array {
  return base58check.decode(address).subarray(1);
}

/** i-address of `hex:` and an id of 20 bytes in reverse order, as the daemon prints it; null for every other text. */
export function hexAddress(text: string): string | null {
  const digits = /^hex:([0-9a-fA-F]{40})$/.exec(text)?.[1];
  return digits ? toAddress(Buffer.from(digits, 'hex').reverse()) : null;
}

/** True for base58check with the version byte of an i-address. The length comes first: most names are refused without decoding. */
export function isIdentityAddress(text: string): boolean {
  return text.length === I_ADDRESS_CHARACTERS && versionOf(text) === IDENTITY_VERSION;
}

const LIKE_IDENTITY_ADDRESS = new RegExp(`^${I_ADDRESS}$`);

/** As long as an i-address and of its letters, whatever its checksum: one wrong letter does not make it a name. */
export function looksLikeIdentityAddress(text: string): boolean {
  return LIKE_IDENTITY_ADDRESS.test(text);
}

/** True for base58check with the version byte of any transparent address. */
export function isTransparentAddress(text: string): boolean {
  const version = versionOf(text);
  return version !== null && VERSIONS.has(version);
}

/** Null for what is no base58check of an address's length. */
function versionOf(text: string): number | null {
  if (text.length > MAX_CHARACTERS) return null;
  try {
    const bytes = base58check.decode(text);
    return bytes.length === ADDRESS_BYTES ? (bytes[0] ?? null) : null;
  } catch {
    return null;
  }
}
