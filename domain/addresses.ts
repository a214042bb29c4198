/** The look of addresses. It does not prove their checksum: isIdentityAddress in names.ts does. */

/** Sources of regular expressions. */
const BASE58 = '[1-9A-HJ-NP-Za-km-z]{33}';
/** i-address of an identity or a currency. */
export const I_ADDRESS = `i${BASE58}`;
/** Address of a public key hash. */
export const R_ADDRESS = `R${BASE58}`;
/** Any transparent address: i, R or b (script hash). */
export const TRANSPARENT_ADDRESS = `[Rbi]${BASE58}`;
