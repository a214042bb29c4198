/** Writes the medians that bound the backfill prices of each day, for the stamping statement. */

import { formatPrice, parsePrice } from '../../domain/decimal.ts';
import type { ClickHouse } from '../../infra/clickhouse/clickhouse.ts';
import type { CsvValue } from '../../infra/clickhouse/csv.ts';
import type { Postgres } from '../../infra/postgres/postgres.ts';
import { readRows } from '../../infra/postgres/read-rows.ts';
import { columns, rowReader } from '../../infra/row-reader.ts';
import { BOUNDS_DAYS, boundsOf, type DailyPrice } from '../../processors/pricing/backfill-bounds.ts';

const COLUMNS = ['generation', 'chain', 'currency_id', 'day', 'twice_median', 'days'];

const readPrice = rowReader({
  chain: columns.text,
  currency_id: columns.text,
  day: columns.number,
  usd_price: columns.text,
});

/** Computes the bounds from the current daily prices of the generation, and replaces the previous bounds. */
export async function writeStampBounds(postgres: Postgres, clickhouse: ClickHouse, generation: number): Promise<void> {
  const rows = await readRows(
    postgres.pool,
    readPrice,
    `SELECT DISTINCT ON (chain, currency_id, day) chain, currency_id, day, usd_price FROM backfill_prices
     WHERE generation = $1 ORDER BY chain, currency_id, day, tick DESC`,
    [generation],
  );
  const byCurrency = Map.groupBy(rows, ({ chain, currency_id }) => `${chain} ${currency_id}`);
  await clickhouse.command(`ALTER TABLE stamp_bounds DROP PARTITION ${generation}`);
  const all = byCurrency.values().flatMap((prices) => {
    const [first] = prices;
    const daily = prices.map(({ day, usd_price }): DailyPrice => ({ day, usd: parsePrice(usd_price) }));
    return first ? bounds(generation, first.chain, first.currency_id, daily) : [];
  });
  await clickhouse.insert('stamp_bounds', COLUMNS, all);
}

function* bounds(
  generation: number,
  chain: string,
  currencyId: string,
  daily: readonly DailyPrice[],
): Iterable<readonly CsvValue[]> {
  let [oldest, newest] = [0, 0];
  const last = (daily.at(-1)?.day ?? 0) + BOUNDS_DAYS;
  for (let day = (daily[0]?.day ?? 0) - BOUNDS_DAYS; day <= last; day++) {
    while ((daily[oldest]?.day ?? day) < day - BOUNDS_DAYS) oldest++;
    while ((daily[newest]?.day ?? Number.POSITIVE_INFINITY) <= day + BOUNDS_DAYS) newest++;
    const found = boundsOf(day, daily.slice(oldest, newest));
    if (found) yield [generation, chain, currencyId, day, formatPrice(found.twiceMedian), found.days];
  }
}
