/** Stores the known contents of the daemons' wallets in Postgres, for the command `status`. */
import type { Postgres } from '../postgres/postgres.ts';
import { readRows } from '../postgres/read-rows.ts';
import { columns, type RowRead, rowReader } from '../row-reader.ts';
import type { WatchedWallet } from './wallet-watch.ts';

const readWallet = rowReader({
  chain: columns.text,
  daemon: columns.number,
  /** Null if the daemon never answered. */
  holds: columns.nullable(columns.texts),
  answered_at: columns.nullable(columns.date),
  /** Whether the daemon answered (`answered`) or was asked (`tried`) in the last two hours. */
  answered: columns.boolean,
  tried: columns.boolean,
});
export type WalletRow = RowRead<typeof readWallet>;

const STORE_SQL = `INSERT INTO daemon_wallets (chain, daemon, holds, answered_at, tried_at) VALUES ($1, $2, $3, $4, now())
  ON CONFLICT (chain, daemon) DO UPDATE SET tried_at = now(),
    holds = coalesce(EXCLUDED.holds, daemon_wallets.holds),
    answered_at = coalesce(EXCLUDED.answered_at, daemon_wallets.answered_at)`;
const READ_SQL = `SELECT chain, daemon, holds, answered_at, tried_at > now() - interval '2 hours' AS tried,
    coalesce(answered_at > now() - interval '2 hours', false) AS answered
  FROM daemon_wallets ORDER BY chain, daemon`;

export async function storeWallet({ pool }: Postgres, chain: string, wallet: WatchedWallet): Promise<void> {
  await pool.query(STORE_SQL, [chain, wallet.daemon, wallet.wallet?.holds ?? null, wallet.answeredAt]);
}

export function readWallets({ pool }: Postgres): Promise<WalletRow[]> {
  return readRows(pool, readWallet, READ_SQL);
}
