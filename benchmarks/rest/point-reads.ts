/** Point reads, each with the bare selects of the rows that its answer needs. */
import type pg from 'pg';
import { hexParam } from '../../infra/postgres/values.ts';

export interface PointRead {
  /** The path as in the route table. */
  readonly path: string;
  /** Statements whose first two parameters are the chain and the key. */
  readonly selects: readonly string[];
  /** Selects random keys of existing rows. */
  readonly keys: string;
}

const SOME = 'ORDER BY random() LIMIT 500';

export const POINT_READS: readonly PointRead[] = [
  {
    path: '/api/blocks/:key',
    selects: ['SELECT * FROM blocks WHERE chain = $1 AND height = $2'],
    keys: `SELECT height::text AS key FROM blocks WHERE chain = $1 ${SOME}`,
  },
  {
    path: '/api/tx/:key',
    selects: [
      'SELECT * FROM transactions WHERE chain = $1 AND txid = $2',
      'SELECT o.* FROM transactions t JOIN outputs o ON o.chain = t.chain AND o.to_height = t.height AND o.spent_txid = t.txid WHERE t.chain = $1 AND t.txid = $2',
      'SELECT * FROM outputs WHERE chain = $1 AND txid = $2',
    ],
    keys: `SELECT encode(txid, 'hex') AS key FROM transactions WHERE chain = $1 ${SOME}`,
  },
  {
    path: '/api/identity/:key',
    selects: ['SELECT * FROM identities WHERE chain = $1 AND identity_address = $2 AND to_height IS NULL'],
    keys: `SELECT identity_address AS key FROM identities WHERE chain = $1 AND to_height IS NULL ${SOME}`,
  },
  {
    path: '/api/address/:key',
    selects: [
      `SELECT a.*, t.*, b.time FROM address_activity a JOIN blocks b USING (chain, height) JOIN transactions t USING (chain, txid)
       WHERE a.chain = $1 AND a.address = $2 ORDER BY a.height DESC, a.tx_index DESC LIMIT 26`,
    ],
    keys: `SELECT address AS key FROM (SELECT DISTINCT address FROM address_activity WHERE chain = $1) AS known ${SOME}`,
  },
  {
    path: '/api/currency/:key',
    selects: ['SELECT * FROM currencies WHERE chain = $1 AND currency_id = $2 AND to_height IS NULL'],
    keys: `SELECT currency_id AS key FROM currencies WHERE chain = $1 AND to_height IS NULL ${SOME}`,
  },
];

export const keysOf = async (pool: pg.Pool, chain: string, { keys }: PointRead): Promise<readonly string[]> =>
  (await pool.query<{ key: string }>(keys, [chain])).rows.map(({ key }) => key);

/** Fetches the same rows with a bare client, as many at a time as the service does; returns reads per second. */
export async function bareSelects(
  pool: pg.Pool,
  chain: string,
  { path, selects }: PointRead,
  keys: readonly string[],
  seconds: number,
): Promise<number> {
  const values = keys.map((key) => [chain, path === '/api/tx/:key' ? hexParam(key) : key]);
  const until = performance.now() + seconds * 1000;
  let done = 0;
  const loop = async () => {
    for (; performance.now() < until; done++) {
      const of = values[done % values.length] ?? [];
      for (const [at, text] of selects.entries()) await pool.query({ name: `${path} ${at}`, text, values: of });
    }
  };
  await Promise.all(Array.from({ length: 10 }, loop));
  return done / seconds;
}
