/** The worked examples of examples/analysts, run by DuckDB over HTTP, against plain sums over the stores and the API. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { NATIVE, USDX } from '../api/running-service.ts';
import { type DuckDb, openDuckDb } from '../support/datasets/duckdb.ts';
import { type ExportedService, startExportedService } from './exported-service.ts';

type Row = Readonly<Record<string, unknown>>;

const FILE = fileURLToPath(new URL('../../examples/analysts/questions.sql', import.meta.url));
const statements = new Map(
  [...readFileSync(FILE, 'utf8').matchAll(/^-- (\d+)\. [^\n]*\n([^;]*);/gm)].map(([, number, sql = '']) => [
    Number(number),
    sql,
  ]),
);
let service: ExportedService;
let duckdb: DuckDb;
/** Every stored conversion, from Postgres: independent of ClickHouse, which wrote the files. */
let conversions: Row[];
let chosen: Record<string, string>;

beforeAll(async () => {
  service = await startExportedService();
  duckdb = await openDuckDb();
  await service.settled(true);
  await service.exported();
  await duckdb.rows(
    `SET s3_endpoint = '127.0.0.1:${service.port}'; SET s3_use_ssl = false; SET s3_url_style = 'path'; SET s3_region = 'any'`,
  );
  const { rows } = await service.stores.postgres.pool.query<Row>(
    `SELECT t.*, s.usd_value::text AS usd, s.diverged, encode(t.txid, 'hex') AS id FROM transfers t JOIN stamps s USING (chain, txid, vout)
     WHERE t.to_height IS NULL AND t.import_height IS NOT NULL AND s.generation = 1`,
  );
  conversions = rows;
  const [busiest] = await duckdb.rows(
    `SELECT basket_id, max(source) AS source FROM ${table('conversions')} WHERE basket_id IS NOT NULL GROUP BY ALL ORDER BY count(*) DESC LIMIT 1`,
  );
  chosen = {
    basket: String(busiest?.basket_id),
    address: String(busiest?.source),
    currency: USDX,
    usd: '100',
    from: '2026-11-18',
    to: '2026-11-19 02:00:00+00',
    height: '900',
  };
});
afterAll(async () => {
  duckdb?.close();
  await service?.stop();
});

const table = (name: string): string => `read_parquet('s3://datasets/${name}/*/*.parquet', hive_partitioning = true)`;

function answer(number: number, more: Record<string, string> = {}): Promise<Row[]> {
  const words = { ...chosen, ...more };
  const sql = statements.get(number)?.replace(/\$([a-z_]+)/g, (_, word: string) => words[word] ?? table(word));
  if (!sql) throw new Error(`no statement ${number}`);
  return duckdb.rows(sql);
}

async function api<T>(path: string): Promise<T> {
  const given = await fetch(`${service.url}${path}`);
  if (!given.ok) throw new Error(`${path}: ${given.status}`);
  return (await given.json()) as T;
}

const usdOf = ({ usd }: Row) => Number(usd ?? 0);
const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);

it('has eleven statements', () => {
  expect([...statements.keys()]).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
});

it('1, 5: conversions above an amount, and the largest', async () => {
  const rows = await answer(1);
  expect(rows.length).toBeGreaterThan(0);
  const [stored] = await service.stores.clickhouse.query(
    `SELECT count() AS n FROM conversions WHERE basket_id = {basket:String} AND usd_value > 100
     AND time >= '2026-11-18 00:00:00' AND time < '2026-11-19 02:00:00'`,
    { basket: chosen.basket },
  );
  expect(String(rows.length)).toBe(stored?.n);
  const { results } = await api<{ results: { usdValue: number }[] }>('/api/conversions/?sort=largest&pageSize=10');
  const largest = await answer(5);
  for (const [index, { usdValue }] of results.entries())
    expect(Number(largest[index]?.usd_value)).toBeCloseTo(usdValue, 6);
});

it('2, 11: volumes and fees are the plain sums', async () => {
  const trades = conversions.filter(
    ({ status, kind }) => status === 'completed' && (kind === 'convert' || kind === 'via'),
  );
  const volumes = await answer(2);
  expect(sum(volumes.map(({ trades: n }) => Number(n)))).toBe(trades.length);
  expect(sum(volumes.map(({ usd }) => Number(usd ?? 0)))).toBeCloseTo(sum(trades.map(usdOf)), 4);
  const stored = await service.stores.clickhouse.query(
    `SELECT toString(sum(conversion_fee)) AS fees FROM conversions WHERE basket_id = {basket:String} AND status = 'completed'
     GROUP BY from_currency_id ORDER BY fees`,
    { basket: chosen.basket },
  );
  const fees = (await answer(11)).map(({ fees: amount }) => String(amount));
  expect(fees.sort()).toEqual(stored.map(({ fees: amount }) => String(amount)));
});

it('3, 4: holders and balances at a height', async () => {
  const holders = await answer(3, { currency: NATIVE });
  for (const { address, balance } of holders.slice(0, 5)) {
    const { native } = await api<{ native: number }>(`/api/address/${address}/balance?height=900`);
    expect(Number(balance) / 1e8).toBeCloseTo(native, 6);
  }
  const [first] = holders;
  const own = await answer(4, { address: String(first?.address) });
  expect(own.find(({ currency_id: id }) => id === NATIVE)?.balance).toBe(first?.balance);
});

it('6, 7, 8: an address, stamps that disagree, regimes', async () => {
  const given = await answer(6);
  const of = conversions.filter(({ source, status }) => source === chosen.address && status === 'completed');
  expect(sum(given.map(({ given: amount }) => Number(amount)))).toBe(
    sum(of.map(({ amount_in: amount }) => Number(amount))),
  );
  expect((await answer(7)).length).toBe(conversions.filter(({ diverged }) => diverged).length);
  const regimes = await answer(8);
  expect(sum(regimes.map(({ n }) => Number(n)))).toBe(conversions.length);
});

it('9, 10: the block at a time, and prices by the hour', async () => {
  const at = Date.parse('2026-11-19T02:00:00Z') / 1000;
  const { height } = await api<{ height: number }>(`/api/blocks/at?time=${at}`);
  expect(await answer(9)).toEqual([{ height }]);
  const hours = await answer(10);
  expect(hours.length).toBeGreaterThan(2);
  expect(hours.every(({ usd_price: price }) => Number(price) > 0)).toBe(true);
});
