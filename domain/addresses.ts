/** Transparent addresses: a version byte and a hash of 20 bytes in base58check. */
import { createBase58check } from '@scure/base';
import { hash160, sha256 } from './hash160.ts';

/** Regular expression sources for the form of addresses; they do not check the checksum. */
const BASE58 = '[1-9A-HJ-NP-Za-km-z]{33}';
/** i-address of an identity or a currency. */
export const I_ADDRESS = `i${BASE58}`;
/** Address of a public key hash. */
export const R_ADDRESS = `R${BASE58}`;
/** An i-, R- or b-address; a b-address is a script hash. */
export const TRANSPARENT_ADDRESS = `[Rbi]${BASE58}`;

const KEY_VERSION = 60;
const IDENTITY_VERSION = 102;
/** Version bytes of transparent addresses: R, b, i, x, quantum. */
const VERSIONS: ReadonlySet<number> = new Set([KEY_VERSION, 85, IDENTITY_VERSION, 137, 58]);
const ADDRESS_BYTES = 21;
/** Most base58 characters of 25 bytes. Longer texts are refused, because decoding time grows with the square of the length. */
const MAX_CHARACTERS = 35;
/** Base58 length of 25 bytes that begin with 102. */
const I_ADDRESS_CHARACTERS = 34;

const base58check = createBase58check(sha256);

/** Returns the i-address of a 20-byte id. */
export function toAddress(id: Uint8Array): string {
  return base58check.encode(Uint8Array.of(IDENTITY_VERSION, ...id));
}

/** Returns the R-address of a public key. */
export function keyAddress(publicKey: Uint8Array): string {
  return base58check.encode(Uint8Array.of(KEY_VERSION, ...hash160(publicKey)));
}

/** Returns the hash in an address, without the version byte. @throws Error when the text is not base58check */
export function addressHash(address: string): Uint8Array {
  return base58check.decode(address).subarray(1);
}

/** Converts `hex:` and a 20-byte id in reverse byte order, as the daemon prints it, to an i-address; null for any other text. */
export function hexAddress(text: string): string | null {
  const digits = /^hex:([0-9a-fA-F]{40})$/.exec(text)?.[1];
  return digits ? toAddress(Buffer.from(digits, 'hex').reverse()) : null;
}

/** True for base58check with the version byte of an i-address. Checks the length first: most names are refused without decoding. */
export function isIdentityAddress(text: string): boolean {
  return text.length === I_ADDRESS_CHARACTERS && versionOf(text) === IDENTITY_VERSION;
}

const LIKE_IDENTITY_ADDRESS = new RegExp(`^${I_ADDRESS}$`);

/** True for a text with the length and letters of an i-address, whatever its checksum: an address with a typo is not a name. */
export function looksLikeIdentityAddress(text: string): boolean {
  return LIKE_IDENTITY_ADDRESS.test(text);
}

/** True for base58check with the version byte of any transparent address. */
export function isTransparentAddress(text: string): boolean {
  const version = versionOf(text);
  return version !== null && VERSIONS.has(version);
}

/** Returns null unless the text is base58check with the length of an address. */
function versionOf(text: string): number | null {
  if (text.length > MAX_CHARACTERS) return null;
  try {
    const bytes = base58check.decode(text);
    return bytes.length === ADDRESS_BYTES ? (bytes[0] ?? null) : null;
  } catch {
    return null;
  }
}
