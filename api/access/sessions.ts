/** Sessions of identities that have logged in: each has a token that is stored as a digest and is valid for a day. */
import { IS_NOT_REVOKED_SQL } from '../../domain/identity-status.ts';
import type { Postgres } from '../../infra/postgres/postgres.ts';
import { readRow } from '../../infra/postgres/read-rows.ts';
import { hexParam } from '../../infra/postgres/values.ts';
import { columns, type RowRead, rowReader } from '../../infra/row-reader.ts';
import { changeRights, type KeyHolder, OWNER, SESSION_LIFE } from './key-store.ts';
import { isBeforeRevocationSql, newestRevocationSql } from './revocations.ts';
import { digest, isSession, newSession } from './tokens.ts';

const readEnd = rowReader({ expiresAt: columns.date });
const readSession = rowReader({ ...OWNER, expiresAt: columns.date, afterRevocation: columns.nullable(columns.number) });
export type Session = RowRead<typeof readSession>;

export interface OpenedSession extends Pick<Session, 'expiresAt'> {
  /** Shown once. */
  readonly token: string;
}

const OPEN_SQL = `INSERT INTO sessions (token_sha256, chain, identity_address, expires_at, after_revocation)
  VALUES ($1, $2, $3, now() + interval '${SESSION_LIFE}', coalesce($4, ${newestRevocationSql('$2', '$3')})) RETURNING expires_at AS "expiresAt"`;
const SWEEP_SQL = 'DELETE FROM sessions WHERE expires_at < now()';
/** A session of a revoked identity is invalid, and stays invalid after the identity is recovered. */
const FIND_SQL = `SELECT s.chain, s.identity_address AS "identityAddress", s.expires_at AS "expiresAt",
    s.after_revocation AS "afterRevocation"
  FROM sessions s
  JOIN identities i ON i.chain = s.chain AND i.identity_address = s.identity_address AND i.to_height IS NULL
  WHERE s.token_sha256 = $1 AND s.expires_at > now() AND i.${IS_NOT_REVOKED_SQL}
    AND NOT ${isBeforeRevocationSql('s', `s.expires_at - interval '${SESSION_LIFE}'`)}`;
const CLOSE_SQL = 'DELETE FROM sessions WHERE token_sha256 = $1';

export async function openSession({ pool }: Postgres, holder: KeyHolder): Promise<OpenedSession> {
  await pool.query(SWEEP_SQL);
  const token = newSession();
  const values = [hexParam(digest(token)), holder.chain, holder.identityAddress, holder.afterRevocation ?? null];
  const row = await readRow(pool, readEnd, OPEN_SQL, values);
  if (!row) throw new Error('Postgres did not store the session');
  return { expiresAt: row.expiresAt, token };
}

export async function findSession({ pool }: Postgres, token: string): Promise<Session | null> {
  if (!isSession(token)) return null;
  return (await readRow(pool, readSession, FIND_SQL, [hexParam(digest(token))])) ?? null;
}

/** Ends the session at once in every process. */
export async function closeSession(postgres: Postgres, token: string): Promise<void> {
  await changeRights(postgres, (client) => client.query(CLOSE_SQL, [hexParam(digest(token))]));
}
