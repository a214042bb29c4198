/** Law: the rows of a filter do not depend on how many days are closed; ClickHouse finds and counts the conversions of closed days. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createClient } from './client.ts';
import { type RunningService, startService, USDX } from './running-service.ts';
import type { LooseJson } from './truth.ts';

const FILTERS = [
  'status=completed',
  'status=refunded',
  'status=pending',
  'minUsd=0',
  'minUsd=0.00000000000000000000000000000000001',
  'minUsd=100',
  'maxUsd=5.5',
  'minUsd=1e-39',
  'maxUsd=1e-39',
  'minUsd=1e38',
  'maxUsd=9e98',
  'minUsd=1e2&maxUsd=1e30',
  'minUsd=10&maxUsd=1000&status=completed',
  'minUsd=10&status=refunded',
  'minUsd=10&type=via',
  'type=preconvert',
  'basket=PureTri',
  `to=${USDX}`,
  `status=completed&from=${USDX}`,
  `minUsd=1&to=${USDX}&basket=PureTri`,
  'minUsd=1&toTime=1795000000',
  'fromTime=2026-11-18T11:44:29Z',
  'toTime=2026-11-18T11:44:29Z',
  'minUsd=1&fromTime=2026-11-18T11:44:29Z',
  'status=completed&fromTime=2026-11-18T11:44:29Z&toTime=1795005000',
  'basket=PureTri&toTime=2026-11-18T11:44:29Z',
  'minUsd=1&fromTime=2026-11-18T11:44:28.000000001Z',
  'fromHeight=300&toHeight=900',
  'diverged=true',
  'diverged=false',
  'diverged=true&status=completed&minUsd=1',
  'executedFromTime=2026-11-18T11:44:29Z',
  'executedToTime=1795000000&basket=PureTri&minUsd=1',
  'executedFromHeight=300&executedToHeight=900',
  'sort=oldest',
  'sort=oldest&status=completed&executedToTime=2026-11-18T11:44:29Z',
  'sort=largest',
  'sort=largest&basket=PureTri&executedFromHeight=300',
];

type Held = (row: LooseJson) => boolean;
/** Filters as conditions on a row. */
const MEANINGS: Readonly<Record<string, Held>> = {
  'fromHeight=300&toHeight=900': ({ height }) => height >= 300 && height <= 900,
  'executedFromTime=2026-11-18T11:44:29Z': ({ importTime }) =>
    importTime !== null && importTime >= Date.parse('2026-11-18T11:44:29Z') / 1000,
  'executedFromHeight=300&executedToHeight=900': ({ importHeight }) =>
    importHeight !== null && importHeight >= 300 && importHeight <= 900,
  'diverged=true': ({ diverged }) => diverged === true,
  'diverged=false': ({ diverged }) => diverged === false,
  'diverged=true&status=completed&minUsd=1': ({ diverged, status, usdValue }) =>
    diverged === true && status === 'completed' && Number(usdValue) >= 1,
  'sort=oldest': () => true,
  'sort=largest': ({ usdValue }) => usdValue !== null,
};

/** Sorts rows, which are newest first, as `sort` asks. */
function inOrder(rows: readonly LooseJson[], filter: string): readonly LooseJson[] {
  if (filter === 'sort=oldest') return rows.toReversed();
  if (filter !== 'sort=largest') return rows;
  const units = ({ usdValue }: LooseJson) => {
    const [whole = '0', fraction = ''] = String(usdValue).split('.');
    return BigInt(whole + fraction.padEnd(40, '0'));
  };
  return rows.toSorted((a, b) => (units(a) === units(b) ? 0 : units(a) > units(b) ? -1 : 1));
}

const SAMPLES = 20;

/** A printed number plus units of its last digit. */
function beside(printed: string, units: bigint): string {
  const [whole = '0', fraction = ''] = printed.split('.');
  const digits = String(BigInt(whole + fraction) + units).padStart(fraction.length + 1, '0');
  return fraction === '' ? digits : `${digits.slice(0, -fraction.length)}.${digits.slice(-fraction.length)}`;
}

let service: RunningService;
beforeAll(async () => {
  service = await startService();
  await service.settled(true);
  await service.stores.postgres.pool.query('ANALYZE'); // as Postgres does by itself within a minute: until then its plans are poor
});
afterAll(() => service?.stop());

it('any filter shows the same rows for any closed day', async () => {
  const { pool } = service.stores.postgres;
  const { rows: days } = await pool.query<{ day: number }>(
    'SELECT DISTINCT (clock / 86400)::integer AS day FROM blocks ORDER BY day',
  );
  expect(days.length).toBeGreaterThan(1);
  const generation = '(SELECT generation FROM generations WHERE served)';
  const shown = new Map<string, readonly unknown[]>();
  for (const closed of [null, ...days.map(({ day }) => day)]) {
    await pool.query('DELETE FROM rolled_days');
    if (closed !== null) await pool.query(`INSERT INTO rolled_days VALUES (${generation}, $1, 0)`, [closed]);
    // A new API has nothing cached from the days before.
    const api = await service.startAnother({});
    const client = createClient(() => `http://127.0.0.1:${api.port}`);
    for (const filter of FILTERS) {
      const path = `/api/conversions/?${filter}`;
      const rows = await client.walk(path, 100);
      shown.set(filter, shown.get(filter) ?? rows);
      expect(rows, `${filter}, closed up to ${closed}`).toEqual(shown.get(filter));
      const second = await client.json(`${path}&page=2&pageSize=7`);
      expect([second.total, second.results], filter).toEqual([rows.length, rows.slice(7, 14)]);
      if (second.prevCursor === null) continue;
      const before = await client.json(`${path}&pageSize=7&cursor=${second.prevCursor}`);
      expect([before.results, before.prevCursor], filter).toEqual([rows.slice(0, 7), null]);
    }
    await api.close();
  }
  expect(shown.get('minUsd=1&fromTime=2026-11-18T11:44:28.000000001Z')).toEqual(
    shown.get('minUsd=1&fromTime=2026-11-18T11:44:29Z'),
  );
  const all = (shown.get('sort=oldest') ?? []).toReversed();
  for (const [filter, held] of Object.entries(MEANINGS)) {
    expect(shown.get(filter), filter).toEqual(inOrder(all.filter(held), filter));
  }
  const early = (shown.get('toTime=2026-11-18T11:44:29Z') ?? []).length;
  const late = (shown.get('fromTime=2026-11-18T11:44:29Z') ?? []).length;
  expect(early + late).toBe((await createClient(() => service.url).json('/api/conversions/?pageSize=1')).total);
  // A refund has no value.
  const none = [...shown].filter(([, rows]) => rows.length === 0).map(([filter]) => filter);
  expect(none).toEqual(['maxUsd=1e-39', 'minUsd=1e38', 'minUsd=10&status=refunded']);
});

it.each([
  ['fromTime=1795000000&toTime=1795000000', '/fromTime'],
  ['fromTime=2026-11-18T11:44:29Z&toTime=1', '/fromTime'],
  ['executedFromTime=2026-11-19&executedToTime=2026-11-18', '/executedFromTime'],
  ['executedFromHeight=901&executedToHeight=900', '/executedFromHeight'],
  ['minUsd=10.00000000000000000000000000000000000001&maxUsd=1e1', '/minUsd'],
  ['fromHeight=901&toHeight=900', '/fromHeight'],
])('%s, an empty range, is refused', async (filter, pointer) => {
  for (const path of ['/api/conversions/', '/api/conversions/summary']) {
    const answer = await fetch(`${service.url}${path}?${filter}`);
    const { code, errors } = (await answer.json()) as LooseJson;
    expect([path, answer.status, code, errors?.[0]?.pointer]).toEqual([path, 400, 'invalid_parameter', pointer]);
  }
});

it('a single block, and a single value, are a range', async () => {
  const client = createClient(() => service.url);
  const [row] = (await client.json('/api/conversions/?minUsd=0&pageSize=1')).results;
  const { importHeight, usdValue } = row;
  const filter = `executedFromHeight=${importHeight}&executedToHeight=${importHeight}&minUsd=${usdValue}&maxUsd=${usdValue}`;
  expect((await client.json(`/api/conversions/?${filter}`)).results).toContainEqual(row);
});

it('a bound that is a printed value keeps its row, one unit of the last digit beyond drops it', async () => {
  const { pool } = service.stores.postgres;
  for (const isClosed of [false, true]) {
    await pool.query('DELETE FROM rolled_days');
    const newest = 'SELECT generation, 100000, 0 FROM generations WHERE served';
    if (isClosed) await pool.query(`INSERT INTO rolled_days ${newest}`);
    const api = await service.startAnother({});
    const client = createClient(() => `http://127.0.0.1:${api.port}`);
    const rows = (await client.walk('/api/conversions/?minUsd=0', 200)) as LooseJson[];
    const printed = new Map(rows.map(({ txid, vout, usdValue }) => [`${txid}:${vout}`, String(usdValue)]));
    expect([...printed.values()].some((value) => value !== String(Number(value)))).toBe(true);
    const shown = async (bound: string, key: string) => {
      const results = await client.walk(`/api/conversions/?${bound}`, 200);
      return results.some(({ txid, vout }: LooseJson) => `${txid}:${vout}` === key);
    };
    const step = Math.ceil(printed.size / SAMPLES);
    for (const [key, value] of [...printed].filter((_, index) => index % step === 0)) {
      // The other bound always keeps the row, and excludes nearly all others, so that there is one page.
      const [below, above] = [beside(value, -1n), beside(value, 1n)];
      const bounds = [
        `minUsd=${value}&maxUsd=${above}`,
        `maxUsd=${value}&minUsd=${below}`,
        `minUsd=${above}&maxUsd=${beside(value, 2n)}`,
        `maxUsd=${below}&minUsd=${beside(value, -2n)}`,
      ];
      const kept = await Promise.all(bounds.map((bound) => shown(bound, key)));
      expect(kept, `${value}, days closed: ${isClosed}`).toEqual([true, true, false, false]);
    }
    await api.close();
  }
});
