/** How a chain stands in the audit: kept in Postgres (audits), shown by /api/stats/status. */
export const AUDIT_STATES = [
  'pending', // nothing is compared yet
  'equal',
  'differs', // the stores part: `lastMismatch` says where
  'violated', // they hold the same, which breaks an invariant: `lastViolation` says which
] as const;
export type AuditState = (typeof AUDIT_STATES)[number];

export interface Mismatch {
  readonly table: string;
  /** The first at which the stores part. */
  readonly height: number;
}

export interface Violation {
  readonly invariant: string;
  /** The first at which it does not hold. */
  readonly height: number;
  readonly currencyId: string;
  /** For a basket: the reserve. */
  readonly reserveId: string | null;
  /** Satoshis by which it is missed, too much when positive. */
  readonly excess: string;
}

/** `foundAt`: ISO 8601; `lasts`: whether it still stood when it was last looked at. */
export type Found<T> = T & { readonly foundAt: string; readonly lasts: boolean };

export interface AuditReport {
  readonly state: AuditState;
  /** Up to it both stores hold the same facts; null before the first comparison. */
  readonly checkedHeight: number | null;
  /** Up to it they hold the same conversions with stamps. */
  readonly stampsCheckedHeight: number | null;
  /** Digest of all facts up to `checkedHeight`, hex. */
  readonly digest: string | null;
  /** Settled conversions that the served prices have passed and that have no stamp: 0 when all is well; null before the first price. */
  readonly conversionsWithoutStamp: number | null;
  /** ISO 8601 */
  readonly checkedAt: string;
  readonly lastMismatch: Found<Mismatch> | null;
  readonly lastViolation: Found<Violation> | null;
}
