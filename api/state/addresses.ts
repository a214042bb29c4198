/** What a caller may write where an address is asked for, and the names of identities in front of their i-addresses. */

import { createHash } from 'node:crypto';
import { createBase58check } from '@scure/base';
import type { ChainConfig } from '../../schemas/config.ts';
import { ApiError } from '../http/api-error.ts';
import { nameAddress } from './name-address.ts';

const base58check = createBase58check((bytes: Uint8Array) => createHash('sha256').update(bytes).digest());

/** Version bytes of transparent addresses: R, b, i, x, quantum. */
const VERSIONS = new Set([60, 85, 102, 137, 58]);
const IDENTITY_VERSION = 102;

/** Of 25 bytes in base58; decoding takes the square of the length. */
const LONGEST = 35;

function version(text: string): number | null {
  if (text.length > LONGEST) return null;
  try {
    const bytes = base58check.decode(text);
    return bytes.length === 21 ? (bytes[0] ?? null) : null;
  } catch {
    return null;
  }
}

export function isIdentityAddress(text: string): boolean {
  return version(text) === IDENTITY_VERSION;
}

export function isTransparentAddress(text: string): boolean {
  const byte = version(text);
  return byte !== null && VERSIONS.has(byte);
}

/** `hex:` and the 20 bytes of an id from the last to the first, as the daemon prints them → i-address; null for every other text. */
export function hexAddress(text: string): string | null {
  const digits = /^hex:([0-9a-fA-F]{40})$/.exec(text)?.[1];
  return digits ? base58check.encode(Uint8Array.of(IDENTITY_VERSION, ...Buffer.from(digits, 'hex').reverse())) : null;
}

/** `parameter` is where it was written. @throws ApiError invalid_parameter for what is neither an address nor `name@` */
export function resolveAddress(chain: ChainConfig, text: string, parameter = 'addr'): string {
  if (isTransparentAddress(text)) return text;
  const named = text.includes('@') ? nameAddress(text, chain.networkRoot) : null;
  if (named !== null) return named;
  const why = text.startsWith('zs1') ? 'a shielded address has no public history' : 'no address and no name with @';
  const detail = `${JSON.stringify(text)} is ${why}`;
  throw new ApiError('invalid_parameter', detail, { errors: [{ pointer: `/${parameter}`, detail }] });
}
