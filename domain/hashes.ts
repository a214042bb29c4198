/** Block hashes and transaction ids: 32 bytes in hex. */

/** Source of a regular expression: lower case, as the daemon prints hashes. */
export const HASH = '[0-9a-f]{64}';
/** Source of a regular expression: callers may write hashes in upper case. */
export const WRITTEN_HASH = '[0-9a-fA-F]{64}';

/** The daemon prints this hash where there is none. */
export const NULL_HASH = '0'.repeat(64);

const IS_HASH = new RegExp(`^${HASH}$`);
const IS_WRITTEN_HASH = new RegExp(`^${WRITTEN_HASH}$`);

export function isHash(value: unknown): value is string {
  return typeof value === 'string' && IS_HASH.test(value);
}

export function isWrittenHash(text: string): boolean {
  return IS_WRITTEN_HASH.test(text);
}
