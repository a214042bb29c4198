/** A secret ends for good with the first revocation of its identity after it: docs/decisions/0135-secrets-end-with-a-revocation.md. */
import { IS_REVOKED_SQL } from '../../domain/identity-status.ts';

/** Height of the newest revocation of an identity that the index knows; 0 for none. The arguments are expressions. */
export const newestRevocationSql = (chain: string, identityAddress: string): string =>
  `(SELECT coalesce(max(r.from_height), 0) FROM identities r
    WHERE r.chain = ${chain} AND r.identity_address = ${identityAddress} AND r.${IS_REVOKED_SQL})`;

/** Condition on a secret of an alias; `issuedAt` is an expression that judges one of before its column. */
export const isBeforeRevocationSql = (secret: string, issuedAt: string): string =>
  `EXISTS (SELECT 1 FROM identities r
    WHERE r.chain = ${secret}.chain AND r.identity_address = ${secret}.identity_address AND r.${IS_REVOKED_SQL}
      AND CASE WHEN ${secret}.after_revocation IS NOT NULL THEN r.from_height > ${secret}.after_revocation
        ELSE (SELECT to_timestamp(b.time) FROM blocks b WHERE b.chain = r.chain AND b.height = r.from_height) > ${issuedAt} END)`;
