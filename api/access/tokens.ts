/** Secrets that are shown once and stored only as their SHA-256. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

/** Lets secret scanners recognize keys. */
export const KEY_PREFIX = 'vst_';
const SECRET_BYTES = 32;
const ID_BYTES = 8;
const KEY = /^vst_([0-9a-f]{16})_([0-9a-f]{64})$/;
const DIGEST_LENGTH = 64;
const SESSION_PREFIX = 'vss_';
const SESSION = /^vss_[0-9a-f]{64}$/;

/** A presented key: its public id and the digest of its secret. For a session, whose token is its only secret, the id is that digest. */
export interface PresentedKey {
  readonly id: string;
  readonly secretSha256: Buffer;
}

export function newId(): string {
  return randomBytes(ID_BYTES).toString('hex');
}

/** Returns the SHA-256 as hex. */
export function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

export function digestBytes(hex: string): Buffer {
  return Buffer.from(hex, 'hex');
}

/** `vst_<id>_<secret>` */
export function newKey(id: string): { readonly key: string; readonly secretSha256: string } {
  const secret = randomBytes(SECRET_BYTES).toString('hex');
  return { key: `${KEY_PREFIX}${id}_${secret}`, secretSha256: digest(secret) };
}

/** Returns null for a text that cannot be a key. */
export function readKey(text: string): PresentedKey | null {
  const [, id, secret] = KEY.exec(text) ?? [];
  return id !== undefined && secret !== undefined ? { id, secretSha256: digestBytes(digest(secret)) } : null;
}

/** Returns null for a text that can be neither a key nor a session. */
export function readToken(text: string): PresentedKey | null {
  if (!isSession(text)) return readKey(text);
  const id = digest(text);
  return { id, secretSha256: digestBytes(id) };
}

export function newSession(): string {
  return `${SESSION_PREFIX}${randomBytes(SECRET_BYTES).toString('hex')}`;
}

export function isSession(text: string): boolean {
  return text.startsWith(SESSION_PREFIX) && SESSION.test(text);
}

/** Whether an id is that of a session. */
export function isDigest(id: string): boolean {
  return id.length === DIGEST_LENGTH;
}

/** Compares in constant time. */
export function sameDigest(a: Buffer, b: Buffer): boolean {
  return timingSafeEqual(a, b);
}
