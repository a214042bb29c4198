/** Past prices equal those of a scan over every row, for random ticks and random currencies with a price at each tick. */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { poolRows } from '../../../test/support/api/pool-rows.ts';
import { createTestStores, type TestStores } from '../../../test/support/infra/test-stores.ts';
import type { ApiContext } from '../../api-context.ts';
import { pricedRows } from '../../state/priced-rows.ts';
import type { Snapshot } from '../../state/snapshot.ts';
import { reservePoints } from '../market/reserve-points.ts';
import { pricesAt } from './price-past.ts';

const MINUTES = 60_000;
const RUNS = 10;
const GENERATION = 1;
const IDS = ['iA', 'iB', 'iC'];

let stores: TestStores;

beforeAll(async () => {
  stores = await createTestStores();
}, 2 * MINUTES);

afterAll(() => stores.close());

interface PastTick {
  readonly tick: number;
  readonly clock: number;
  /** Currencies that are priced at it. */
  readonly priced: readonly string[];
}

/** Past ticks; the ticks from index `line` on are beyond the line. */
interface Past {
  readonly ticks: readonly PastTick[];
  readonly line: number;
}

/** Clocks stand still or jump by hours; some tick numbers are skipped. */
const ticksOfThePast: fc.Arbitrary<PastTick[]> = fc
  .array(
    fc.record({
      later: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 900 }), fc.integer({ min: 3600, max: 20_000 })),
      gap: fc.oneof({ weight: 9, arbitrary: fc.constant(1) }, { weight: 1, arbitrary: fc.integer({ min: 2, max: 4 }) }),
      priced: fc.subarray(IDS),
    }),
    { minLength: 1, maxLength: 40 },
  )
  .map((steps) => {
    let [tick, clock] = [-1, 1_700_000_000];
    return steps.map(({ later, gap, priced }) => {
      tick += gap;
      clock += later;
      return { tick, clock, priced };
    });
  });

const past: fc.Arbitrary<Past> = fc
  .tuple(ticksOfThePast, fc.oneof(fc.constant(Number.POSITIVE_INFINITY), fc.nat({ max: 40 })))
  .map(([ticks, line]) => ({ ticks, line }));

/** Ticks beyond the line are numbered from here on. */
const BEYOND = 2 ** 40;

async function write({ ticks, line }: Past): Promise<void> {
  await writeComplete(ticks.slice(0, line));
  await writeBeyond(ticks.slice(line));
}

/** Writes two runs, a third run that no longer counts, and rows outside the ranges of their runs. */
async function writeBeyond(ticks: readonly PastTick[]): Promise<void> {
  const { pool } = stores.postgres;
  await pool.query('TRUNCATE ahead_runs');
  await pool.query(`DELETE FROM stage_positions WHERE stage = 'price_ahead'`);
  await stores.clickhouse.command('TRUNCATE TABLE prices_ahead');
  const [first, last] = [ticks[0], ticks.at(-1)];
  if (!first || !last) return;
  await pool.query(`INSERT INTO stage_positions VALUES ('price_ahead', 'one', 0, 0, '\\x00', $1)`, [last.clock]);
  const middle = BEYOND + (ticks[ticks.length >> 1]?.tick ?? 0);
  await pool.query(
    `INSERT INTO ahead_runs VALUES (1, $1, $2::bigint - 1, 1, false, true), (2, $2, $3, 1, false, true), (3, $1, $3, 1, false, false)`,
    [BEYOND + first.tick, middle, BEYOND + last.tick],
  );
  const columns = ['run', 'generation', 'currency_id', 'tick', 'time', 'clock', 'usd_price'];
  const rowOf = (run: number, { tick, clock }: PastTick, id: string, price: number) => {
    return [run, GENERATION, id, BEYOND + tick, clock, clock, price];
  };
  const rows = ticks.flatMap((tick) => {
    const run = BEYOND + tick.tick < middle ? 1 : 2;
    const counting = tick.priced.map((id) => rowOf(run, tick, id, tick.tick + 1));
    return [...counting, ...IDS.flatMap((id) => [rowOf(3, tick, id, 77), rowOf(3 - run, tick, id, 78)])];
  });
  await stores.clickhouse.insert('prices_ahead', columns, rows);
}

async function writeComplete(ticks: readonly PastTick[]): Promise<void> {
  await stores.postgres.pool.query('TRUNCATE price_ticks');
  await stores.postgres.pool.query(
    `INSERT INTO price_ticks SELECT tick, 'one', tick, '\\x00', clock, 0 FROM unnest($1::bigint[], $2::bigint[]) AS made(tick, clock)`,
    [ticks.map(({ tick }) => tick), ticks.map(({ clock }) => clock)],
  );
  await stores.clickhouse.command('TRUNCATE TABLE prices');
  const columns = ['generation', 'currency_id', 'tick', 'time', 'usd_price'];
  const rows = ticks.flatMap(({ tick, clock, priced }) => priced.map((id) => [GENERATION, id, tick, clock, tick + 1]));
  await stores.clickhouse.insert('prices', columns, rows);
}

const api = () => ({ clickhouse: stores.clickhouse }) as Pick<ApiContext, 'clickhouse'> as ApiContext;
const read = () =>
  ({
    state: { generation: GENERATION, leftOut: [], derived: new Map([['one', { position: 0 }]]) },
    ...poolRows(stores.postgres),
  }) as unknown as Snapshot;

it(
  'the last tick and the last prices up to a moment',
  async () => {
    await fc.assert(
      fc.asyncProperty(past, fc.array(fc.nat(), { minLength: 3, maxLength: 3 }), async (made, draws) => {
        const { ticks, line } = made;
        await write(made);
        const rows = await pricedRows(read(), api());
        const clocks = ticks.flatMap(({ clock }) => [clock - 1, clock, clock + 1]);
        for (const draw of draws) {
          const moment = clocks[draw % clocks.length] ?? 0;
          const before = ticks.filter(({ clock }) => clock <= moment);
          // Beyond the line, ClickHouse knows only ticks with prices.
          const place = ticks.findLastIndex(
            ({ clock, priced }, at) => clock <= moment && (at < line || priced.length > 0),
          );
          const tick = (place >= line ? BEYOND : 0) + (ticks[place]?.tick ?? -1);
          expect(Number((await rows.tickAt(moment)) ?? -1)).toBe(tick);
          const expected = IDS.flatMap((id) => {
            const last = before.findLast(({ priced }) => priced.includes(id));
            return last ? [[id, last.tick + 1]] : [];
          });
          const found = await pricesAt(api(), rows, IDS, moment);
          expect([...found].map(([id, price]) => [id, Number(price)]).sort()).toEqual(expected);
        }
      }),
      { numRuns: RUNS },
    );
  },
  5 * MINUTES,
);

const WINDOW = 300;
const BASKET = { chain: 'one', currencyId: 'iBasket' };

/** Writes a basket with 1, 10 and 100 units of its reserves in every window, from the first tick to past the last one. */
async function hold(ticks: readonly PastTick[]): Promise<number[]> {
  const [first, last] = [ticks[0]?.clock ?? 0, ticks.at(-1)?.clock ?? 0];
  const count = Math.min(150, Math.floor((last - first) / WINDOW) + 4);
  const windows = Array.from(
    { length: count },
    (_, index) => (Math.floor(last / WINDOW) + 2 - index) * WINDOW,
  ).reverse();
  await stores.clickhouse.command('TRUNCATE TABLE reserve_snapshots');
  const columns = [
    'chain',
    'currency_id',
    'window',
    'state_height',
    'height',
    'supply',
    'reserve_ids',
    'weights',
    'reserves',
    'position',
  ];
  const weights = [1n, 1n, 1n];
  const rows = windows.map((at) => ['one', 'iBasket', at, 1, 1, 1n, IDS, weights, [1n, 10n, 100n], 0]);
  await stores.clickhouse.insert('reserve_snapshots', columns, rows);
  return windows;
}

it(
  'the value of reserves at the end of each window',
  async () => {
    const reserves = IDS.map((currencyId) => ({ currencyId, weight: '1', reserves: '1', priceInReserve: '1' }));
    await stores.postgres.pool.query(
      `INSERT INTO currency_states (chain, currency_id, from_height, tx_index, vout, txid, flags, supply, reserves, state, position)
       VALUES ('one', 'iBasket', 0, 0, 0, '\\x00', 49, 1, $1, '{}', 0)`,
      [JSON.stringify(reserves)],
    );
    await fc.assert(
      fc.asyncProperty(past, fc.nat({ max: 20 }), async (made, later) => {
        const { ticks } = made;
        await write(made);
        const windows = await hold(ticks);
        const since = (windows[later % windows.length] ?? 0) - 1;
        const points = await reservePoints(read(), api(), await pricedRows(read(), api()), BASKET, since);
        expect(points.map(({ time }) => time)).toEqual(windows.filter((window) => window >= since));
        for (const { time, tvl, reserves } of points) {
          const before = ticks.filter(({ clock }) => clock <= time + WINDOW);
          const prices = IDS.map((id) => before.findLast(({ priced }) => priced.includes(id))?.tick ?? -1);
          const worth = prices.reduce((sum, tick, place) => sum + 10n ** BigInt(place) * BigInt(tick + 1), 0n);
          expect(tvl ?? 0n).toBe(worth * 10n ** 30n);
          const each = prices.map((tick, place) => 10n ** BigInt(place) * BigInt(tick + 1) * 10n ** 30n);
          expect(reserves.map(([, , usd]) => usd ?? 0n)).toEqual(each);
        }
      }),
      { numRuns: RUNS },
    );
  },
  5 * MINUTES,
);
