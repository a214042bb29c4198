/** A secret ends for good with the first later revocation of its identity: docs/decisions/0135-secrets-end-with-a-revocation.md. */
import { IS_REVOKED_SQL } from '../../domain/identity-status.ts';

/** SQL for the height of an identity's newest revocation that the index knows; 0 if there is none. The arguments are SQL expressions. */
export const newestRevocationSql = (chain: string, identityAddress: string): string =>
  `(SELECT coalesce(max(r.from_height), 0) FROM identities r
    WHERE r.chain = ${chain} AND r.identity_address = ${identityAddress} AND r.${IS_REVOKED_SQL})`;

/** SQL condition on the table alias `secret`; the SQL expression `issuedAt` is compared for rows older than the column after_revocation. */
export const isBeforeRevocationSql = (secret: string, issuedAt: string): string =>
  `EXISTS (SELECT 1 FROM identities r
    WHERE r.chain = ${secret}.chain AND r.identity_address = ${secret}.identity_address AND r.${IS_REVOKED_SQL}
      AND CASE WHEN ${secret}.after_revocation IS NOT NULL THEN r.from_height > ${secret}.after_revocation
        ELSE (SELECT to_timestamp(b.time) FROM blocks b WHERE b.chain = r.chain AND b.height = r.from_height) > ${issuedAt} END)`;
