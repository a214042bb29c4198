/** The daemon's verifymessage: secp256k1 signatures of addresses and identities on a text. */
import { createHash } from 'node:crypto';
import { recoverPublicKey } from '@noble/secp256k1';
import { addressHash, keyAddress } from '../../domain/addresses.ts';
import { isRevoked } from '../../domain/identity-status.ts';

/** The members of an identity that decide whether a signature is valid. */
export interface SigningKeys {
  readonly identityaddress: string;
  readonly primaryaddresses: readonly string[];
  readonly minimumsignatures: number;
  readonly flags: number;
}

export interface IdentitySigner {
  /** i-address of the chain. */
  readonly systemId: string;
  readonly tip: number;
  /** The identity at a height; null when it did not exist. */
  readonly keysAt: (height: number) => SigningKeys | null;
  /** Use the keys at the tip, not the keys at the height in the signature. */
  readonly checkLatest: boolean;
}

export interface IdentitySignature {
  readonly version: 1 | 2;
  readonly height: number;
  /** Compact signatures of 65 bytes each. */
  readonly signatures: readonly Uint8Array[];
}

const sha256 = (...parts: Uint8Array[]): Buffer => createHash('sha256').update(Buffer.concat(parts)).digest();

const COMPACT_BYTES = 65;
const COMPRESSED = 31;
const UNCOMPRESSED = 27;
/** Hash type in a signature of version 2. */
const SHA256_TYPE = 5;

/** Prefixes the bytes with their length as Bitcoin's CompactSize. */
function sized(bytes: Uint8Array): Buffer {
  if (bytes.length < 0xfd) return Buffer.concat([Buffer.from([bytes.length]), bytes]);
  const head = Buffer.alloc(bytes.length <= 0xffff ? 3 : 5);
  if (head.length === 3) head.writeUInt16LE(bytes.length, 1);
  else head.writeUInt32LE(bytes.length, 1);
  head[0] = head.length === 3 ? 0xfd : 0xfe;
  return Buffer.concat([head, bytes]);
}

const PREFIX = sized(Buffer.from('Verus signed data:\n'));

/** The `hash` of signmessage, in the same byte order. */
export const messageHash = (message: string): Buffer => sha256(sized(Buffer.from(message, 'utf8')));

/** The digest that a key signs for its own address. */
export const addressDigest = (message: string): Buffer => sha256(PREFIX, messageHash(message));

/** The digest that each key of an identity signs; it covers the chain, the height and the identity. */
export function identityDigest(
  { version, height }: Pick<IdentitySignature, 'version' | 'height'>,
  systemId: string,
  identityAddress: string,
  message: string,
): Buffer {
  const at = Buffer.alloc(4);
  at.writeUInt32LE(height);
  const context = [addressHash(systemId), at, addressHash(identityAddress)];
  const signed = version === 1 ? [PREFIX, ...context] : [...context, PREFIX];
  return sha256(...signed, messageHash(message));
}

/** R-address of the key that made a compact signature; null when the signature is invalid. */
function signerOf(signature: Uint8Array, digest: Uint8Array): string | null {
  const [header = 0] = signature;
  if (signature.length !== COMPACT_BYTES || header < UNCOMPRESSED || header >= COMPRESSED + 4) return null;
  const recovered = new Uint8Array(COMPACT_BYTES);
  recovered[0] = (header - UNCOMPRESSED) % 4;
  recovered.set(signature.subarray(1), 1);
  try {
    const key = recoverPublicKey(recovered, digest, { prehash: false });
    if (header < COMPRESSED) return null; // addresses of uncompressed keys do not occur on these chains
    return keyAddress(key);
  } catch {
    return null; // not a point of the curve
  }
}

export function verifyAddressMessage(address: string, signature: Uint8Array, message: string): boolean {
  return signerOf(signature, addressDigest(message)) === address;
}

/** Returns null for bytes that are not an identity signature. */
function readIdentitySignature(bytes: Buffer): IdentitySignature | null {
  const [version] = bytes;
  if (version !== 1 && version !== 2) return null;
  if (version === 2 && bytes[1] !== SHA256_TYPE) return null;
  const start = version === 1 ? 1 : 2;
  if (bytes.length < start + 5) return null;
  const count = bytes[start + 4] ?? 0;
  const signatures: Uint8Array[] = [];
  let at = start + 5;
  for (let n = 0; n < count; n += 1, at += 1 + COMPACT_BYTES) {
    if (bytes[at] !== COMPACT_BYTES || bytes.length < at + 1 + COMPACT_BYTES) return null;
    signatures.push(bytes.subarray(at + 1, at + 1 + COMPACT_BYTES));
  }
  return at === bytes.length ? { version, height: bytes.readUInt32LE(start), signatures } : null;
}

export function verifyIdentityMessage(signer: IdentitySigner, bytes: Buffer, message: string): boolean {
  const signature = readIdentitySignature(bytes);
  if (!signature || signature.height > signer.tip) return false;
  const keys = signer.keysAt(signer.checkLatest ? signer.tip : signature.height);
  if (!keys || isRevoked(keys.flags)) return false;
  const digest = identityDigest(signature, signer.systemId, keys.identityaddress, message);
  const signers = new Set(signature.signatures.map((one) => signerOf(one, digest)));
  // A single signature by another key makes the whole invalid.
  for (const one of signers) if (one === null || !keys.primaryaddresses.includes(one)) return false;
  return signers.size >= keys.minimumsignatures;
}
