/** Bits that the protocol sets in its objects. The same bit means different things in different objects. */

/** `flags` of an identity. */
export const IDENTITY_FLAGS = {
  ACTIVE_CURRENCY: 0x1,
  /** While it is set, `timelock` counts blocks from the unlock request; without it, `timelock` is a height. */
  LOCKED: 0x2,
  TOKEN_CONTROLLED: 0x4,
  REVOKED: 0x8000,
} as const;

/** `options` of a currency definition. */
export const CURRENCY_OPTIONS = {
  FRACTIONAL: 0x1,
  ID_REFERRALS: 0x8,
  GATEWAY: 0x80,
  PBAAS: 0x100,
} as const;

/** `flags` of a currency state. */
export const STATE_FLAGS = {
  FRACTIONAL: 0x1,
  PRELAUNCH: 0x2,
  REFUNDING: 0x4,
  LAUNCH_CONFIRMED: 0x10,
  LAUNCH_COMPLETE: 0x20,
} as const;

/** `flags` of a reserve transfer. */
export const TRANSFER_FLAGS = {
  CONVERT: 0x2,
  PRECONVERT: 0x4,
  FEE_OUTPUT: 0x8,
  MINT: 0x20,
  CROSS_SYSTEM: 0x40,
  /** A burn that changes the price, or one that changes the weight. */
  BURN: 0x80 | 0x100,
  IMPORT_TO_SOURCE: 0x200,
  RESERVE_TO_RESERVE: 0x400,
  REFUND: 0x800,
  ARBITRAGE_ONLY: 0x4000,
} as const;

/** `flags` of a cross-chain export. */
export const EXPORT_FLAGS = { DEFINITION: 0x40, SYSTEM_THREAD: 0x100 } as const;

/** `flags` of a cross-chain import. */
export const IMPORT_FLAGS = { DEFINITION: 0x1, SYSTEM_THREAD: 0x40 } as const;
