/**
 * Login of an identity: it signs a message that names this host, the identity and one challenge. The chain's daemon verifies the signature
 * against the current keys of the identity. The first answer, right or wrong, spends the challenge.
 */
import { isRevoked } from '../../domain/identity-status.ts';
import type { Postgres } from '../../infra/postgres/postgres.ts';
import { readRow } from '../../infra/postgres/read-rows.ts';
import { storedColumns } from '../../infra/postgres/stored-columns.ts';
import { columns, rowReader } from '../../infra/row-reader.ts';
import { DaemonRpcError } from '../../infra/verusd/daemon-errors.ts';
import type { VerusdClient } from '../../infra/verusd/verusd-client.ts';
import { DEFINITIONS } from '../../schemas/facts.ts';
import { ApiError } from '../http/api-error.ts';
import { type KeyHolder, type KeyOwner, OWNER } from './key-store.ts';
import type { PublicHosts } from './public-hosts.ts';
import { newestRevocationSql } from './revocations.ts';
import { newId } from './tokens.ts';

export interface Challenge {
  readonly id: string;
  readonly message: string;
  /** Command for the daemon's command-line client. */
  readonly command: string;
  readonly expiresAt: Date;
}

export interface LoginOptions {
  readonly postgres: Postgres;
  readonly daemon: (chain: string) => Pick<VerusdClient, 'call'>;
  readonly hosts: PublicHosts;
  /** Returns the height that the index of a chain has reached; null before its first block. */
  readonly indexedHeight: (chain: string) => number | null;
}

const MINUTES = 5;
/** Blocks by which the index may lag behind the daemon; the index does not know the revocations in these blocks yet. */
const INDEX_LAG = 3;

const FLAGS_SQL = `SELECT flags, ${newestRevocationSql('$1', '$2')} AS revocation
  FROM identities WHERE chain = $1 AND identity_address = $2 AND to_height IS NULL`;
const readFlags = rowReader({ ...storedColumns(DEFINITIONS.identity, ['flags']), revocation: columns.number });
const SWEEP_SQL = 'DELETE FROM login_challenges WHERE expires_at < now()';
const STORE_SQL = `INSERT INTO login_challenges (id, chain, identity_address, host, message, expires_at)
  VALUES ($1, $2, $3, $4, $5, $6)`;
/** Only one of several concurrent answers gets the row. */
const SPEND_SQL = `DELETE FROM login_challenges WHERE id = $1
  RETURNING chain, identity_address AS "identityAddress", host, message, expires_at > now() AS valid`;
const readSpent = rowReader({ ...OWNER, host: columns.text, message: columns.text, valid: columns.boolean });

const refused = (detail: string) => new ApiError('login_refused', detail);

export function createLogin({ postgres, daemon, hosts, indexedHeight }: LoginOptions) {
  const { pool } = postgres;

  /** Returns the height of the identity's newest revocation, from which it has since recovered; 0 if it was never revoked. */
  async function requireUnrevoked({ chain, identityAddress }: KeyOwner): Promise<number> {
    const row = await readRow(pool, readFlags, FLAGS_SQL, [chain, identityAddress]);
    if (!row) throw new ApiError('not_found', `identity ${identityAddress} of ${chain} is not known`);
    if (isRevoked(row.flags))
      throw new ApiError('identity_revoked', `identity ${identityAddress} of ${chain} is revoked`);
    return row.revocation;
  }

  /** A daemon that lags does not yet know which keys were replaced. */
  async function requireCurrent(chain: string): Promise<void> {
    const info = (await daemon(chain).call('getinfo', [])) as { blocks?: unknown; longestchain?: unknown };
    const height = Number(info.blocks);
    const indexed = indexedHeight(chain);
    if (indexed === null) throw new ApiError('syncing', `${chain} has no indexed block yet`);
    if (!(height >= indexed) || height < Number(info.longestchain) || indexed < height - INDEX_LAG) {
      throw new ApiError('syncing', `${chain} is not up to date at the moment: logins are refused until it is`);
    }
  }

  return {
    /** `host` is the host name of the request. @throws ApiError host_refused, not_found, identity_revoked, syncing */
    async challenge(holder: KeyOwner, host: string): Promise<Challenge> {
      hosts.require(host);
      await requireUnrevoked(holder);
      await requireCurrent(holder.chain);
      const { chain, identityAddress } = holder;
      const id = newId() + newId();
      const expiresAt = new Date(Date.now() + MINUTES * 60_000);
      const message = `Log in to ${host} as ${identityAddress} of ${chain}, challenge ${id}, until ${expiresAt.toISOString()}`;
      await pool.query(SWEEP_SQL);
      await pool.query(STORE_SQL, [id, chain, identityAddress, host, message, expiresAt]);
      return { id, message, command: `signmessage "${identityAddress}" "${message}"`, expiresAt };
    },

    /** Returns the identity that has logged in. @throws ApiError login_refused, identity_revoked, syncing, daemon_error */
    async answer(id: string, signature: string, host: string): Promise<KeyHolder> {
      const spent = await readRow(pool, readSpent, SPEND_SQL, [id]);
      if (!spent?.valid) throw refused('there is no such challenge: it has been answered, or is older than 5 minutes');
      if (spent.host !== host) throw refused('the challenge was issued under another host name');
      const { chain, identityAddress, message } = spent;
      const afterRevocation = await requireUnrevoked(spent);
      await requireCurrent(chain);
      const holds = await daemon(chain)
        .call('verifymessage', [identityAddress, signature, message, true])
        .catch((error: unknown) => {
          if (error instanceof DaemonRpcError) return false; // the daemon cannot parse the signature
          throw error;
        });
      if (holds !== true) throw refused('the signature does not match this identity and message');
      return { chain, identityAddress, afterRevocation };
    },
  };
}

export type Login = ReturnType<typeof createLogin>;
