/** API keys of identities in Postgres. Every process is notified of a change of rights before the change is acknowledged. */

import type { PoolClient } from 'pg';
import { IS_NOT_REVOKED_SQL } from '../../domain/identity-status.ts';
import type { Postgres } from '../../infra/postgres/postgres.ts';
import { readRow, readRows } from '../../infra/postgres/read-rows.ts';
import { hexParam } from '../../infra/postgres/values.ts';
import { columns, type RowOf, type RowRead, rowReader } from '../../infra/row-reader.ts';
import { type AccessTier, TIERS } from '../../schemas/config.ts';
import { isBeforeRevocationSql, newestRevocationSql } from './revocations.ts';
import { isDigest, newId, newKey } from './tokens.ts';

export const OWNER = { chain: columns.text, identityAddress: columns.text };
/** Identity of a chain that owns a key or a session. */
export type KeyOwner = RowOf<typeof OWNER>;

/** An owner that has proven its identity. */
export interface KeyHolder extends KeyOwner {
  /** Height of the newest revocation known before the proof; secrets issued on this proof store it. By default the newest known now. */
  readonly afterRevocation?: number | null;
}

const readKeyRow = rowReader({
  id: columns.text,
  name: columns.text,
  /** Null if only the allowance of the identity applies. */
  credits_per_minute: columns.nullable(columns.number),
  created_at: columns.date,
  regenerated_at: columns.nullable(columns.date),
  /** Limited to the usage that is already written and still kept. */
  last_used_at: columns.nullable(columns.date),
});
export type KeyRow = RowRead<typeof readKeyRow>;

const readTier = rowReader({ tier: columns.choice(TIERS) });
const readActive = rowReader({
  ...OWNER,
  id: columns.text,
  /** When a session ends; null for a key. */
  expiresAt: columns.nullable(columns.date),
  secretSha256: columns.text,
  tier: columns.choice(TIERS),
  /** Allowance of this key alone, within that of the holder; null if it has none, and for a session. */
  creditsPerMinute: columns.nullable(columns.number),
});

/** Rights and allowance of a request with this key, or with a session of the same identity. */
export interface ActiveKey extends RowRead<typeof readActive> {
  /** Name of the allowance that all keys of the holder share. */
  readonly account: string;
}

export interface IssuedKey {
  readonly row: KeyRow;
  /** Shown once. */
  readonly key: string;
}

/** Postgres channel that announces changes to keys or tiers. */
export const ACCESS_CHANNEL = 'verustream_access';
export const MAX_KEYS = 20;
export const SESSION_LIFE = '24 hours';
export const LOWEST_TIER: AccessTier = 'free';

/** Name of the allowance of an identity of a chain. */
export const accountOf = ({ chain, identityAddress }: KeyOwner): string => `identity ${chain} ${identityAddress}`;

const COLUMNS = `id, name, credits_per_minute, created_at, regenerated_at, (SELECT max(u.last_at) FROM account_usage u
  WHERE u.chain = api_keys.chain AND u.identity_address = api_keys.identity_address AND u.step = 'day' AND u.key_id = api_keys.id)
  AS last_used_at`;
const OWN = 'chain = $1 AND identity_address = $2 AND revoked_at IS NULL';
const LIST_SQL = `SELECT ${COLUMNS} FROM api_keys WHERE ${OWN} ORDER BY created_at, id`;
/** Serializes creations, so that two concurrent ones count each other. */
const LOCK_SQL = 'SELECT pg_advisory_xact_lock(hashtext($1))';
const readCount = rowReader({ count: columns.number });
const COUNT_SQL = `SELECT count(*)::int4 AS count FROM api_keys WHERE ${OWN}`;
const CREATE_SQL = `INSERT INTO api_keys (chain, identity_address, id, name, secret_sha256, credits_per_minute, after_revocation)
  VALUES ($1, $2, $3, $4, $5, $6, coalesce($7, ${newestRevocationSql('$1', '$2')}))
  RETURNING ${COLUMNS}`;
const REGENERATE_SQL = `UPDATE api_keys SET secret_sha256 = $4, regenerated_at = now(),
    after_revocation = coalesce($5, ${newestRevocationSql('$1', '$2')})
  WHERE ${OWN} AND id = $3
  RETURNING ${COLUMNS}`;
const REVOKE_SQL = `UPDATE api_keys SET revoked_at = now() WHERE ${OWN} AND id = $3`;
/**
 * Active keys and sessions. An identity that is revoked, or no longer known to its chain, has none; a recovered one has only those issued
 * after the revocation. A chain that is not configured has none either, because the service would not see its revocations.
 */
const ACTIVE_SQL = `SELECT k.id, k.chain, k.identity_address AS "identityAddress", k.secret_sha256 AS "secretSha256",
    k.expires_at AS "expiresAt", k.credits_per_minute AS "creditsPerMinute", coalesce(t.tier, $3) AS tier
  FROM (SELECT id, chain, identity_address, secret_sha256, NULL::timestamptz AS expires_at, credits_per_minute,
        after_revocation, coalesce(regenerated_at, created_at) AS issued_at
      FROM api_keys
      WHERE id = ANY($1) AND revoked_at IS NULL
    UNION ALL SELECT encode(token_sha256, 'hex'), chain, identity_address, token_sha256, expires_at, NULL,
        after_revocation, expires_at - interval '${SESSION_LIFE}'
      FROM sessions
      WHERE token_sha256 = ANY($2::bytea[]) AND expires_at > now()) AS k
  JOIN identities i ON i.chain = k.chain AND i.identity_address = k.identity_address AND i.to_height IS NULL
  LEFT JOIN identity_tiers t ON t.chain = k.chain AND t.identity_address = k.identity_address
  WHERE i.${IS_NOT_REVOKED_SQL} AND k.chain = ANY($4) AND NOT ${isBeforeRevocationSql('k', 'k.issued_at')}`;
const SET_TIER_SQL = `INSERT INTO identity_tiers (chain, identity_address, tier) VALUES ($1, $2, $3)
  ON CONFLICT (chain, identity_address) DO UPDATE SET tier = EXCLUDED.tier`;

export function listKeys({ pool }: Postgres, holder: KeyOwner): Promise<KeyRow[]> {
  return readRows(pool, readKeyRow, LIST_SQL, [holder.chain, holder.identityAddress]);
}

/** Returns null when the identity already has MAX_KEYS keys. `creditsPerMinute`: allowance of this key alone, null for none. */
export function createKey(
  postgres: Postgres,
  holder: KeyHolder,
  name: string,
  creditsPerMinute: number | null = null,
): Promise<IssuedKey | null> {
  const own = [holder.chain, holder.identityAddress];
  const id = newId();
  const { key, secretSha256 } = newKey(id);
  return postgres.transaction(async (client) => {
    await client.query(LOCK_SQL, [`api_keys ${own.join(' ')}`]);
    const counted = await readRow(client, readCount, COUNT_SQL, own);
    if ((counted?.count ?? 0) >= MAX_KEYS) return null;
    const values = [...own, id, name, hexParam(secretSha256), creditsPerMinute, holder.afterRevocation ?? null];
    const row = await readRow(client, readKeyRow, CREATE_SQL, values);
    return row ? { row, key } : null;
  });
}

/** Returns null when the identity has no such key. The old secret becomes invalid at once. */
export async function regenerateKey(postgres: Postgres, holder: KeyHolder, id: string): Promise<IssuedKey | null> {
  const { key, secretSha256 } = newKey(id);
  const values = [holder.chain, holder.identityAddress, id, hexParam(secretSha256), holder.afterRevocation ?? null];
  const row = await changeRights(postgres, (client) => readRow(client, readKeyRow, REGENERATE_SQL, values));
  return row ? { row, key } : null;
}

/** Returns false when the identity has no such key. */
export async function revokeKey(postgres: Postgres, holder: KeyOwner, id: string): Promise<boolean> {
  const values = [holder.chain, holder.identityAddress, id];
  const { rowCount } = await changeRights(postgres, (client) => client.query(REVOKE_SQL, values));
  return rowCount === 1;
}

/** Returns those of the given keys and sessions (ids as in PresentedKey) that may be used now and whose identities are on `chains`. */
export async function activeKeys(
  { pool }: Postgres,
  ids: readonly string[],
  chains: readonly string[],
): Promise<ActiveKey[]> {
  const [sessions, keys] = [ids.filter(isDigest), ids.filter((id) => !isDigest(id))];
  const rows = await readRows(pool, readActive, ACTIVE_SQL, [keys, sessions.map(hexParam), LOWEST_TIER, chains]);
  return rows.map((row) => ({ ...row, account: accountOf(row) }));
}

/** The tier applies only on the holder's chain. */
export async function setTier(postgres: Postgres, holder: KeyOwner, tier: AccessTier): Promise<void> {
  const values = [holder.chain, holder.identityAddress, tier];
  await changeRights(postgres, (client) => client.query(SET_TIER_SQL, values));
}

export async function tierOf({ pool }: Postgres, { chain, identityAddress }: KeyOwner): Promise<AccessTier> {
  const sql = 'SELECT tier FROM identity_tiers WHERE chain = $1 AND identity_address = $2';
  return (await readRow(pool, readTier, sql, [chain, identityAddress]))?.tier ?? LOWEST_TIER;
}

/** Makes every process look up keys and sessions again. The notification is part of the transaction: if it fails, nothing changes. */
export function changeRights<T>(postgres: Postgres, change: (client: PoolClient) => Promise<T>): Promise<T> {
  return postgres.transaction(async (client) => {
    const changed = await change(client);
    await client.query(`NOTIFY ${ACCESS_CHANNEL}`);
    return changed;
  });
}
