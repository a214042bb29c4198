/** Audit state of a chain, kept in Postgres (audits) and shown by /api/stats/status. */
export const AUDIT_STATES = [
  'pending', // nothing is compared yet
  'equal',
  'differs', // the stores differ: `lastMismatch` has the place
  'violated', // the stores are equal, but their content breaks an invariant: `lastViolation` names it
] as const;
export type AuditState = (typeof AUDIT_STATES)[number];

export interface Mismatch {
  readonly table: string;
  /** The first height at which the stores differ. */
  readonly height: number;
}

export interface Violation {
  readonly invariant: string;
  /** The first height at which the invariant is broken. */
  readonly height: number;
  readonly currencyId: string;
  /** For a basket: the reserve. */
  readonly reserveId: string | null;
  /** Satoshis by which the invariant is missed; positive when there is too much. */
  readonly excess: string;
}

/** `foundAt`: ISO 8601; `lasts`: whether it was still there at the last check. */
export type Found<T> = T & { readonly foundAt: string; readonly lasts: boolean };

export interface AuditReport {
  readonly state: AuditState;
  /** Height up to which both stores contain the same facts; null before the first comparison. */
  readonly checkedHeight: number | null;
  /** Height up to which both stores contain the same conversions with stamps. */
  readonly stampsCheckedHeight: number | null;
  /** Digest of all facts up to `checkedHeight`, hex. */
  readonly digest: string | null;
  /** Settled conversions without a stamp although the served prices have passed them: should be 0; null before the first price. */
  readonly conversionsWithoutStamp: number | null;
  /** ISO 8601 */
  readonly checkedAt: string;
  readonly lastMismatch: Found<Mismatch> | null;
  readonly lastViolation: Found<Violation> | null;
}
