/** Changes rows of both stores without the stages' knowledge. */
import type { Stores } from '../../../../infra/stores.ts';

export type RowDamage = 'changed' | 'deleted' | 'added';
export type Store = 'postgres' | 'clickhouse';

export interface Tampered {
  /** Name of the table in the audit. */
  readonly table: string;
  /** Damages the newest row below a height. Resolves with its height, or null if there is no such row or the damage is not applicable. */
  readonly postgres: (stores: Stores, damage: RowDamage, below: number) => Promise<number | null>;
  readonly clickhouse: (stores: Stores, damage: RowDamage, below: number) => Promise<number | null>;
}

interface Place {
  readonly from: string;
  readonly height: string;
  readonly where?: string;
}

interface PostgresPlace extends Place {
  readonly table: string;
  /** Columns whose values differ in an added row; null if no row can be added. */
  readonly added: Readonly<Record<string, unknown>> | null;
  readonly changed: Readonly<Record<string, unknown>>;
}

interface ClickHousePlace extends Place {
  /** Columns that identify a row among those of its height. */
  readonly key: readonly string[];
  /** A column and the SQL of its new value. */
  readonly changed: readonly [column: string, value: string];
}

const inPostgres =
  ({ table, from, height, where = 'true', added, changed }: PostgresPlace): Tampered['postgres'] =>
  async ({ postgres }, damage, below) => {
    if (damage === 'added' && !added) return null;
    const { rows } = await postgres.pool.query<{ ctid: string; height: number }>(
      `SELECT t.ctid, ${height} AS height FROM ${from} WHERE ${where} AND ${height} < $1 ORDER BY 2 DESC, 1 DESC LIMIT 1`,
      [below],
    );
    const [row] = rows;
    if (!row) return null;
    const take =
      damage === 'added'
        ? `SELECT * FROM ${table} WHERE ctid = $1`
        : `DELETE FROM ${table} WHERE ctid = $1 RETURNING *`;
    // Deleting and inserting a row in one statement would violate the unique index.
    await postgres.transaction(async (client) => {
      await client.query(`CREATE TEMP TABLE old ON COMMIT DROP AS SELECT * FROM ${table} WHERE false`);
      await client.query(`WITH old AS (${take}) INSERT INTO pg_temp.old SELECT * FROM old`, [row.ctid]);
      if (damage === 'deleted') return;
      const columns = JSON.stringify(damage === 'added' ? added : changed);
      await client.query(
        `INSERT INTO ${table} SELECT (jsonb_populate_record(NULL::${table}, to_jsonb(old) || $1)).* FROM old`,
        [columns],
      );
    });
    return row.height;
  };

const inClickHouse =
  ({ from, height, where = 'true', key, changed: [column, value] }: ClickHousePlace): Tampered['clickhouse'] =>
  async ({ clickhouse }, damage, below) => {
    const [row] = await clickhouse.query(
      `SELECT toString(${height}) AS at, ${key.map((name) => `toString(${name}) AS ${name}`).join(', ')} FROM ${from}
       WHERE ${where} AND ${height} < ${below} ORDER BY ${height} DESC LIMIT 1`,
    );
    if (!row) return null;
    const one = [`${height} = ${row.at}`, ...key.map((name) => `toString(${name}) = '${row[name]}'`)].join(' AND ');
    if (damage === 'added') await clickhouse.command(`INSERT INTO ${from} SELECT * FROM ${from} WHERE ${one}`);
    if (damage === 'deleted') await clickhouse.command(`DELETE FROM ${from} WHERE ${one}`);
    if (damage === 'changed') await clickhouse.command(`ALTER TABLE ${from} UPDATE ${column} = ${value} WHERE ${one}`);
    return Number(row.at);
  };

/** One entry per audited table. Stakes come before blocks, because Postgres stores stakes in columns of blocks. */
export const TAMPERED: readonly Tampered[] = [
  {
    table: 'stakes',
    postgres: inPostgres({
      table: 'blocks',
      from: 'blocks t',
      height: 'height',
      where: 'stake_txid IS NOT NULL',
      added: null,
      changed: { stake_amount: 1 },
    }),
    clickhouse: inClickHouse({ from: 'stakes', height: 'height', key: ['txid'], changed: ['amount', 'amount + 1'] }),
  },
  {
    table: 'blocks',
    postgres: inPostgres({
      table: 'blocks',
      from: 'blocks t',
      height: 'height',
      where: 'stake_txid IS NULL',
      added: null,
      changed: { fees: 1 },
    }),
    clickhouse: inClickHouse({ from: 'blocks', height: 'height', key: ['hash'], changed: ['fees', 'fees + 1'] }),
  },
  {
    table: 'transactions',
    postgres: inPostgres({
      table: 'transactions',
      from: 'transactions t',
      height: 'height',
      added: { txid: '\\xff', tx_index: 999 },
      changed: { kind: 'stake', size: 1 },
    }),
    clickhouse: inClickHouse({ from: 'transactions', height: 'height', key: ['txid'], changed: ['size', 'size + 1'] }),
  },
  {
    table: 'native deltas',
    postgres: inPostgres({
      table: 'address_activity',
      from: 'address_activity t',
      height: 'height',
      where: 'received <> 0 AND currencies IS NULL',
      added: { address: 'Rnobody' },
      changed: { received: 1 },
    }),
    clickhouse: inClickHouse({
      from: 'address_deltas',
      height: 'height',
      where: "received <> 0 AND currency_id = 'iJhCezBExJHvtyH3fGhNnt2NhU4Ztkf2yq'",
      key: ['address', 'txid', 'currency_id'],
      changed: ['sent', 'sent + 1'],
    }),
  },
  {
    table: 'token deltas',
    postgres: inPostgres({
      table: 'address_activity',
      from: 'address_activity t',
      height: 'height',
      where: 'currencies IS NOT NULL AND received = 0 AND sent = 0',
      added: { address: 'Rnobody' },
      changed: { currencies: { iNothing: '1' } },
    }),
    clickhouse: inClickHouse({
      from: 'address_deltas',
      height: 'height',
      where: "received <> sent AND currency_id <> 'iJhCezBExJHvtyH3fGhNnt2NhU4Ztkf2yq'",
      key: ['address', 'txid', 'currency_id'],
      changed: ['received', 'received + 1'],
    }),
  },
  {
    table: 'identity states',
    postgres: inPostgres({
      table: 'identities',
      from: 'identities t',
      height: 'from_height',
      added: { vout: 99 },
      changed: { flags: 7 },
    }),
    clickhouse: inClickHouse({
      from: 'identity_updates',
      height: 'height',
      key: ['txid', 'vout'],
      changed: ['state', "concat(state, ' ')"],
    }),
  },
  {
    table: 'currency states',
    postgres: inPostgres({
      table: 'currency_states',
      from: 'currency_states t',
      height: 'from_height',
      added: { vout: 99 },
      changed: { reserves: [], supply: 1 },
    }),
    clickhouse: inClickHouse({
      from: 'currency_states',
      height: 'height',
      key: ['currency_id', 'tx_index', 'vout'],
      changed: ['supply', 'supply + 1'],
    }),
  },
  {
    table: 'stamped conversions',
    postgres: inPostgres({
      table: 'stamps',
      from: 'stamps t JOIN price_ticks p USING (tick)',
      height: 'p.height',
      added: { vout: 99 },
      changed: { rule: 'unpriced', reason: 'tampered' },
    }),
    clickhouse: inClickHouse({
      from: 'conversions',
      height: 'import_height',
      key: ['txid', 'vout'],
      changed: ['usd_value', 'coalesce(usd_value, 0) + 1'],
    }),
  },
];
