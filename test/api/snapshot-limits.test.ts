/** Snapshots of stores with more rows than a snapshot may have: conversions are refused; prices include all of the newest. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ServerMessage } from '../../client/stream/messages.ts';
import { openStream } from '../../client/stream/stream.ts';
import { CHAIN, type RunningService, startService } from './running-service.ts';
import { StreamReader } from './stream-reader.ts';
import type { LooseJson } from './truth.ts';

const MOST_ROWS = 20_000;
const MOST_PRICES = 8_000;
const START = 840;
/** Final height of a chain with the default finality depth. */
const FINAL = START - 100;

let service: RunningService;

beforeAll(async () => {
  service = await startService({ startHeight: START });
  await service.settled(true);
}, 300_000);

afterAll(() => service?.stop());

const inPostgres = async (sql: string, values: unknown[] = []): Promise<LooseJson[]> =>
  (await service.stores.postgres.pool.query(sql, values)).rows;

/** Snapshots of one state are shared, so rows made by hand are seen with the next block. */
async function nextBlock(): Promise<void> {
  service.node.step();
  await service.settled(true);
}

/** All messages of the answer to a subscription. */
async function subscribed(reader: StreamReader, id: number, channels: readonly string[]): Promise<LooseJson[]> {
  reader.send({ op: 'subscribe', id, channels, snapshot: true });
  return reader.until(
    ({ type, last, id: answered }) => answered === id && (type === 'error' || (type === 'snapshot' && last)),
  );
}

/** Parts that a client reads that buffers few messages, and reads none before the last part has arrived. */
async function partsOfSlowReader(): Promise<number> {
  let isWhole = false;
  const onMessage = (message: ServerMessage) => {
    if (message.type === 'snapshot') isWhole = message.last;
  };
  const wish = { channels: ['conversions'], snapshot: true };
  let parts = 0;
  for await (const event of openStream({ baseUrl: service.url, ...wish, mostWaiting: 10, onMessage })) {
    while (!isWhole) await new Promise((resolve) => setTimeout(resolve, 10));
    if (event.type === 'snapshot') parts += 1;
    if (event.type === 'snapshot' && event.last) break;
  }
  return parts;
}

const rowsOf = (messages: readonly LooseJson[]): LooseJson[] =>
  messages.flatMap(({ type, rows }) => (type === 'snapshot' ? rows : []));

describe('pending conversions', () => {
  /** Copies of a recorded one with other keys. */
  const COPIES = `INSERT INTO transfers SELECT made.*
    FROM (SELECT * FROM transfers WHERE kind = 'convert' AND chain = '${CHAIN}' LIMIT 1) t, generate_series($1::int, $2::int) copy,
      jsonb_populate_record(NULL::transfers, to_jsonb(t) || jsonb_build_object('txid', '\\x' || lpad(to_hex(copy), 64, '0'),
        'kind', 'convert', 'status', 'pending', 'to_height', null)) made`;

  it('are sent up to the most rows, in parts; with one more the subscription is refused, and nothing else', async () => {
    const reader = new StreamReader(service.port);
    await reader.opened();
    const before = rowsOf(await subscribed(reader, 1, ['conversions'])).length;
    await inPostgres(COPIES, [1, MOST_ROWS - before]);
    await nextBlock();
    const whole = await subscribed(reader, 2, ['conversions']);
    expect(rowsOf(whole)).toHaveLength(MOST_ROWS);
    expect(Math.max(...whole.map((message) => JSON.stringify(message).length))).toBeLessThan(64 * 1024);

    expect(await partsOfSlowReader()).toBe(whole.filter(({ type }) => type === 'snapshot').length);

    await inPostgres(COPIES, [MOST_ROWS + 1, MOST_ROWS + 100]);
    await nextBlock();
    const refused = (await subscribed(reader, 3, ['conversions'])).at(-1);
    expect(refused).toMatchObject({ type: 'error', id: 3, code: 'snapshot_too_large' });
    expect(JSON.stringify(refused)).toContain('20000 rows');
    expect(rowsOf(await subscribed(reader, 4, ['reserves'])).length).toBeGreaterThan(0);
    await reader.close();
  });
});

describe('prices', () => {
  const CURRENCIES = 100;
  /** Each currency changes its price with every tick above the newest final block. */
  const MOVES = `INSERT INTO prices SELECT made.*
    FROM (SELECT * FROM prices LIMIT 1) p, price_ticks tick, generate_series(1, ${CURRENCIES}) currency,
      jsonb_populate_record(NULL::prices, to_jsonb(p) || jsonb_build_object('currency_id', 'made' || currency, 'tick', tick.tick,
        'chain', tick.chain, 'height', tick.height, 'usd_price', currency + tick.tick)) made
    WHERE tick.height > $1`;

  it('beyond the most rows have a higher `since`: above it all rows are included, below it the newest of each currency', async () => {
    await inPostgres(MOVES, [FINAL]);
    await nextBlock();
    const stored = await inPostgres(
      "SELECT currency_id, height, usd_price::float8 AS price FROM prices WHERE currency_id LIKE 'made%' ORDER BY tick",
    );
    expect(stored.length).toBeGreaterThan(MOST_PRICES);
    const reader = new StreamReader(service.port);
    await reader.opened();
    const messages = await subscribed(reader, 1, ['prices']);
    const { since } = messages.find(({ type }) => type === 'snapshot');
    expect(since).toBeGreaterThan(FINAL);

    const rows = rowsOf(messages).filter(({ data }) => data.currencyId.startsWith('made'));
    const above = stored.filter(({ height }) => height > since);
    expect(above.length).toBeLessThanOrEqual(MOST_PRICES);
    expect(above.length).toBeGreaterThan(MOST_PRICES - 2 * CURRENCIES);
    const below = new Map(stored.flatMap((row) => (row.height > since ? [] : [[row.currency_id, row] as const])));
    const keyOf = (currencyId: string, height: number, price: number) => `${currencyId} ${height} ${price}`;
    const wanted = [...below.values(), ...above].map((row) => keyOf(row.currency_id, row.height, row.price));
    expect(rows.map(({ height, data }) => keyOf(data.currencyId, height, data.usdPrice)).sort()).toEqual(wanted.sort());
    await reader.close();
  });
});
