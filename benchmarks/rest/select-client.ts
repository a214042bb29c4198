/** One of several clients that send the bare selects of a point read. Arguments: URL of Postgres, chain, path, seconds. */
import pg from 'pg';
import { bareSelects, keysOf, POINT_READS } from './point-reads.ts';

const WARM_SECONDS = 1;
const [connectionString = '', chain = '', path = '', seconds = '3'] = process.argv.slice(2);
const point = POINT_READS.find((one) => one.path === path);
if (!point) throw new Error(`no point read ${path}`);
const pool = new pg.Pool({ connectionString });
const keys = await keysOf(pool, chain, point);
// Opens the connections, prepares the statements and warms up the code before the measurement.
await bareSelects(pool, chain, point, keys, WARM_SECONDS);
process.send?.('ready');
process.once('message', async () => {
  process.send?.(await bareSelects(pool, chain, point, keys, Number(seconds)));
  await pool.end();
  process.exit();
});
