/** The hash functions behind names and addresses. */
import { hash } from 'node:crypto';

export const sha256 = (bytes: Uint8Array): Uint8Array => hash('sha256', bytes, 'buffer');
export const hash256 = (bytes: Uint8Array): Uint8Array => sha256(sha256(bytes));
export const hash160 = (bytes: Uint8Array): Uint8Array => hash('ripemd160', sha256(bytes), 'buffer');
