/** The ledger in Postgres: one row per allowance, locked while it is settled, so that processes take turns. */
import { inTransaction, type Postgres } from '../../infra/postgres/postgres.ts';
import { readRows } from '../../infra/postgres/read-rows.ts';
import { columns, jsonReader, rowReader } from '../../infra/row-reader.ts';
import { type AllowanceLedger, type ExchangeAnswer, type SettledLeases, settleLease } from './ledger.ts';

/** Also locks existing rows. The fixed order prevents deadlocks between processes. */
const LOCK_SQL = `INSERT INTO allowances AS a (bucket, shares, ends_at)
  SELECT bucket, '{}', 0 FROM unnest($1::text[]) AS asked(bucket) ORDER BY bucket
  ON CONFLICT (bucket) DO UPDATE SET bucket = a.bucket RETURNING bucket, shares`;
const readShares = rowReader({ bucket: columns.text, shares: columns.text });
const readLeases = jsonReader(
  columns.record(
    columns.object({
      open: columns.number,
      until: columns.number,
      uses: columns.list(columns.tuple(columns.number, columns.number)),
    }),
  ),
);

const STORE_SQL = `UPDATE allowances a SET shares = settled.shares, ends_at = settled.ends_at
  FROM unnest($1::text[], $2::json[], $3::bigint[]) AS settled(bucket, shares, ends_at) WHERE a.bucket = settled.bucket`;

export interface PostgresLedger extends AllowanceLedger {
  close(): Promise<void>;
}

/** Any request may have to wait for the ledger, so requests are refused after this time without an answer from Postgres. */
const SILENCE_MS = 5_000;

export function createPostgresLedger(postgres: Postgres): PostgresLedger {
  const limits = { connectMs: SILENCE_MS, statementMs: SILENCE_MS };
  const pool = postgres.openPool({ application_name: 'verustream-limits', max: 2 }, limits);
  return {
    close: () => pool.end(),
    exchange: (process, now, requests) =>
      inTransaction(pool, async (client) => {
        const names = requests.map(({ bucket }) => bucket);
        const rows = await readRows(client, readShares, LOCK_SQL, [names]);
        const held = new Map(rows.map(({ bucket, shares }) => [bucket, readLeases(shares)]));
        const settled = requests.map((request) => settleLease(held.get(request.bucket) ?? {}, process, now, request));
        const column = <T>(read: (row: SettledLeases) => T) => settled.map(read);
        await client.query(STORE_SQL, [
          names,
          column(({ shares }) => JSON.stringify(shares)),
          column(({ endsAt }) => Math.ceil(endsAt)),
        ]);
        return column(({ answer }): ExchangeAnswer => answer);
      }),
  };
}

/** Deletes allowances in which nothing counts any more. */
export async function deleteExpired(postgres: Postgres, now: number): Promise<void> {
  await postgres.pool.query('DELETE FROM allowances WHERE ends_at < $1', [Math.floor(now)]);
}
