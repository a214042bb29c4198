/**
 * Conversions without a payout, from the daemon's blocks to every answer: those far off the market and from before the cutover count as
 * refunded, the others are unmatched, and a swap of generations changes that, and changes it back.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { encodePlaces, feedKey } from '../../api/push/cursor.ts';
import { run as runAudit } from '../../commands/audit.ts';
import { parseCommand } from '../../commands/parse-command.ts';
import { runStoreCommand } from '../../commands/store-commands.ts';
import { deriveBlock } from '../../processors/derive-block.ts';
import { createMemoryState } from '../../processors/state/memory-state.ts';
import { readCsv } from '../support/api/http/read-csv.ts';
import { collectedOutput } from '../support/commands/collected-output.ts';
import { RECORDED_CHAIN } from '../support/processors/recorded-chain.ts';
import {
  type ChangedImport,
  changedBlocks,
  type ImportedTransfer,
  startChangedRecording,
} from './changed-recording.ts';
import { createClient } from './client.ts';
import { CHAIN, type FollowedNode, NATIVE, type RunningService, startServiceOn, USDX } from './running-service.ts';
import { StreamReader } from './stream-reader.ts';
import { blocks, type LooseJson } from './truth.ts';

/** After the recording. */
const CUTOVER = Date.parse('2030-01-01T00:00:00Z') / 1000;
const isTruth = (currencyId: string | null) => currencyId === NATIVE || currencyId === USDX;
const keyOf = ({ txid, vout }: { readonly txid: string; readonly vout: number }) => `${txid}:${vout}`;

/** The last version of each transfer of these blocks. */
function transfersOf(chain: readonly LooseJson[]): ImportedTransfer[] {
  const state = createMemoryState(RECORDED_CHAIN);
  const last = new Map<string, ImportedTransfer>();
  for (const block of chain) {
    for (const fact of deriveBlock(block, state))
      if (fact.type === 'transfer') last.set(keyOf(fact), fact as ImportedTransfer);
  }
  return [...last.values()];
}

/** The rate of a conversion divided by the rate at the basket's prices, in doubles, as the daemon prints them. */
function offMarket(chain: readonly LooseJson[], transfer: ImportedTransfer): number {
  const { kind, fromCurrencyId, toCurrencyId, importCurrencyId: basket, importTxid, importHeight } = transfer;
  const states = chain[importHeight].tx.flatMap(({ txid, vout }: LooseJson) =>
    vout.flatMap(({ scriptPubKey }: LooseJson) => {
      const state = scriptPubKey.acceptednotarization?.currencystate;
      return state?.currencyid === basket ? [{ txid, state }] : [];
    }),
  );
  const { currencies } = states.find(({ txid }: LooseJson) => txid === importTxid).state;
  const [from, to] = [fromCurrencyId ?? '', toCurrencyId];
  const net = Number(transfer.amountIn - transfer.conversionFee);
  const inTokens = from === basket ? net : net / Number(currencies[from].lastconversionprice);
  const sold = kind === 'via' ? 'viaconversionprice' : 'lastconversionprice';
  const out = to === basket ? inTokens : inTokens * Number(currencies[to][sold]);
  const { reservecurrencies } = states.at(-1).state;
  const inReserve = (id: string) =>
    id === basket ? 1 : Number(reservecurrencies.find(({ currencyid }: LooseJson) => currencyid === id).priceinreserve);
  return out / Number(transfer.amountIn) / (inReserve(to) / inReserve(from));
}

/** Satoshis and prices with 8 decimals lose digits; no conversion may be this near to the bound. */
const LOST = 0.01;

let service: RunningService<FollowedNode>;
/** Conversions without a payout: far off the market, near it, and with a side whose value is beyond doubt. */
let far: ImportedTransfer[];
let near: ImportedTransfer[];
let ofTruth: ImportedTransfer[];
const client = createClient(() => service.url);

beforeAll(async () => {
  const paid = transfersOf(blocks).filter(({ status, kind, payoutVout }) => {
    return status === 'completed' && (kind === 'convert' || kind === 'via') && payoutVout !== null;
  });
  const hasTruth = ({ fromCurrencyId, toCurrencyId }: ImportedTransfer) =>
    isTruth(fromCurrencyId) || isTruth(toCurrencyId);
  const doubtful = paid.filter((one) => !hasTruth(one));
  const apart = (transfer: ImportedTransfer): ChangedImport => {
    const isSale = transfer.fromCurrencyId === transfer.importCurrencyId;
    const currencyId = (isSale ? transfer.toCurrencyId : transfer.fromCurrencyId) ?? '';
    return { transfer, how: { currencyId, timesFour: isSale } };
  };
  const chain = changedBlocks([
    ...doubtful.slice(0, 3).map(apart),
    ...doubtful.slice(3, 9).map((transfer) => ({ transfer, how: 'misdirected' as const })),
    ...paid
      .filter((one) => one.fromCurrencyId === NATIVE && one.importHeight > 900)
      .slice(0, 1)
      .map(apart),
  ]);
  const unpaid = transfersOf(chain).filter(({ status, kind }) => status === 'unmatched' && kind !== 'send');
  ofTruth = unpaid.filter(hasTruth);
  const rates = unpaid.filter((one) => !hasTruth(one)).map((one) => ({ one, rate: offMarket(chain, one) }));
  for (const { rate } of rates) expect(Math.abs(Math.abs(rate - 1) - 0.5)).toBeGreaterThan(LOST);
  far = rates.filter(({ rate }) => Math.abs(rate - 1) > 0.5).map(({ one }) => one);
  near = rates.filter(({ rate }) => Math.abs(rate - 1) <= 0.5).map(({ one }) => one);
  service = await startServiceOn(await startChangedRecording(chain), { cutover: CUTOVER });
  await service.settled(true);
});
afterAll(() => service?.stop());

async function listed(filter: string): Promise<Map<string, LooseJson>> {
  const rows = await client.walk(`/api/conversions/?${filter}`, 50);
  expect((await client.json(`/api/conversions/?${filter}&pageSize=1`)).total, filter).toBe(rows.length);
  return new Map(rows.map((row) => [keyOf(row), row]));
}

/** Keys of the conversions of each kind that the lists show. */
async function shown() {
  const [refunded, unmatched] = [await listed('status=refunded'), await listed('status=unmatched')];
  const counted = [...refunded].filter(([, { reason }]) => reason === 'no_delivery').map(([key]) => key);
  return { refunded: counted.sort(), unmatched: [...unmatched.keys()].sort() };
}

const keys = (...lists: readonly ImportedTransfer[][]) => lists.flat().map(keyOf).sort();

it('has some of each', () => {
  for (const some of [far, near, ofTruth]) expect(some.length).toBeGreaterThan(1);
});

it('lists those far off as refunded with the reason, and the others as unmatched', async () => {
  const { refunded, unmatched } = await shown();
  expect(refunded).toEqual(keys(far));
  expect(unmatched).toEqual(keys(near, ofTruth));
  for (const row of (await listed('status=refunded')).values()) {
    expect([row.status, row.amountOut, row.price, row.usdValue, row.rule]).toEqual([
      'refunded',
      null,
      null,
      null,
      'unpriced',
    ]);
  }
  for (const row of (await listed('status=unmatched')).values()) {
    expect([row.status, row.reason.startsWith('no output of the import'), row.usdValue]).toEqual([
      'unmatched',
      true,
      null,
    ]);
  }
  const all = await listed('');
  let sum = 0;
  for (const status of ['pending', 'completed', 'refunded', 'unmatched'])
    sum += (await listed(`status=${status}`)).size;
  expect(sum).toBe(all.size);
  for (const key of keys(far)) expect(all.get(key)).toMatchObject({ status: 'refunded', reason: 'no_delivery' });
});

it('answers the same, whichever days ClickHouse answers for', async () => {
  const { pool } = service.stores.postgres;
  const { rows: days } = await pool.query<{ day: number }>(
    'SELECT DISTINCT (clock / 86400)::integer AS day FROM blocks ORDER BY day',
  );
  const one = far[0] as ImportedTransfer;
  const filters = [
    'status=refunded',
    'status=unmatched',
    'type=convert',
    `from=${one.fromCurrencyId}`,
    `basket=${one.importCurrencyId}`,
    `from=${one.fromCurrencyId}&status=refunded`,
    `from=${one.fromCurrencyId}&status=unmatched`,
    `address=${one.destination}&status=refunded`,
  ];
  const before = new Map<string, unknown>();
  for (const filter of filters) before.set(filter, [...(await listed(filter))]);
  const kept = await pool.query('SELECT generation, day, tick FROM rolled_days');
  for (const { day } of days) {
    await pool.query('DELETE FROM rolled_days');
    await pool.query('INSERT INTO rolled_days VALUES (1, $1, 0)', [day]);
    const another = await service.startAnother({});
    const beside = createClient(() => `http://127.0.0.1:${another.port}`);
    for (const filter of filters) {
      const rows = await beside.walk(`/api/conversions/?${filter}`, 7);
      expect(
        rows.map((row) => [keyOf(row), row]),
        `${filter}, closed up to ${day}`,
      ).toEqual(before.get(filter));
      expect((await beside.json(`/api/conversions/?${filter}&pageSize=1`)).total, filter).toBe(rows.length);
    }
    await another.close();
  }
  await pool.query('DELETE FROM rolled_days');
  for (const { generation, day, tick } of kept.rows) {
    await pool.query('INSERT INTO rolled_days VALUES ($1, $2, $3)', [generation, day, tick]);
  }
});

it('streams them as CSV, shows them with their import, and explains both rates', async () => {
  const csv = await (await client.raw('/api/conversions/?status=refunded&format=csv')).text();
  const [names = [], ...lines] = readCsv(csv);
  for (const column of ['reason', 'stampReason']) {
    const reasons = lines.map((line) => line[names.indexOf(column)]);
    expect(reasons.filter((reason) => reason === 'no_delivery')).toHaveLength(far.length);
  }
  for (const transfer of far) {
    const { conversions } = await client.json(`/api/tx/${transfer.importTxid}`);
    const row = conversions.find((one: LooseJson) => keyOf(one) === keyOf(transfer));
    expect(row).toMatchObject({ status: 'refunded', reason: 'no_delivery' });
    const { data } = await client.json(`/api/oracle/conversions/${transfer.txid}?explain=true`);
    const stamp = data.find((one: LooseJson) => keyOf(one) === keyOf(transfer));
    const nothing = { amountOut: null, fromUsd: null, toUsd: null, usdValue: null, priceHeight: null };
    expect(stamp).toMatchObject({
      status: 'refunded',
      reason: 'no_delivery',
      rule: 'unpriced',
      regime: 'backfill',
      ...nothing,
    });
    expect(stamp.provisional).toBe(false);
    const [market, executed] = stamp.steps.slice(-2);
    expect([market.step, executed.step]).toEqual(['market_rate', 'executed_rate']);
    expect(Math.abs(Number(executed.value) / Number(market.value) - 1)).toBeGreaterThan(0.5);
  }
  for (const transfer of [...near, ...ofTruth]) {
    const { data } = await client.json(`/api/oracle/conversions/${transfer.txid}?explain=true`);
    const stamp = data.find((one: LooseJson) => keyOf(one) === keyOf(transfer));
    expect(stamp).toMatchObject({
      status: 'unmatched',
      reason: 'unmatched',
      regime: null,
      provisional: false,
      steps: null,
    });
  }
});

it('corrects in the stream what it sent as unmatched, also for subscribers without minUsd', async () => {
  const reader = new StreamReader(service.port);
  await reader.opened();
  const START = { position: 0, index: 0 };
  const cursor = encodePlaces(new Map((['facts', 'stamps'] as const).map((topic) => [feedKey(topic, CHAIN), START])));
  reader.send({ op: 'subscribe', id: 1, channels: ['conversions'], cursor });
  const expected = new Map([...(await listed(''))].map(([key, { status }]) => [key, status]));
  const pushed = new Map<string, LooseJson>();
  const corrected: string[] = [];
  await reader.until(({ type, data }) => {
    expect(['hello', 'ack', 'conversion']).toContain(type);
    if (type !== 'conversion') return false;
    const key = keyOf(data);
    if (data.reason === 'no_delivery') {
      expect(pushed.get(key)).toMatchObject({ status: 'unmatched', importTxid: data.importTxid });
      expect(data).toMatchObject({ status: 'refunded', rule: 'unpriced', usdValue: null });
      corrected.push(key);
    } else expect(data).not.toHaveProperty('usdValue');
    pushed.set(key, data);
    return pushed.size === expected.size && [...pushed].every(([of, { status }]) => status === expected.get(of));
  });
  await reader.close();
  expect(corrected.sort()).toEqual(keys(far));
});

interface Counts {
  readonly conversionsStamped: Readonly<Record<string, number>>;
  readonly conversionsUnpriced: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly conversionsWithoutStamp: number | null;
}

async function counts(): Promise<Counts> {
  const { conversionsStamped, conversionsUnpriced, conversionsWithoutStamp } = (await client.json('/api/stats/status'))
    .chains[CHAIN];
  return { conversionsStamped, conversionsUnpriced, conversionsWithoutStamp };
}

/** What the status must report, counted over the list of all conversions and their stamps. */
async function counted(regime: 'live' | 'backfill'): Promise<Omit<Counts, 'conversionsWithoutStamp'>> {
  const rows = [...(await listed('')).values()].filter(({ status }) => status === 'completed' || status === 'refunded');
  const reasons: Record<string, number> = {};
  for (const txid of new Set(rows.map((row) => row.txid))) {
    const { data } = await client.json(`/api/oracle/conversions/${txid}`);
    for (const stamp of data) {
      const isOurs = stamp.txid === txid && stamp.regime !== null;
      if (isOurs && stamp.usdValue === null) reasons[stamp.reason] = (reasons[stamp.reason] ?? 0) + 1;
    }
  }
  const none = { refunded: 0, no_delivery: 0, burn: 0, mint: 0, basket_to_basket: 0, no_price: 0, out_of_bounds: 0 };
  const empty = { live: none, backfill: none };
  return {
    conversionsStamped: { live: 0, backfill: 0, [regime]: rows.length },
    conversionsUnpriced: { ...empty, [regime]: { ...none, ...reasons } },
  };
}

it('counts them in the status, with none that lacks a stamp', async () => {
  const { conversionsWithoutStamp: _, ...pushed } = await counts();
  expect(pushed).toEqual(await counted('backfill'));
  expect(pushed.conversionsUnpriced.backfill?.no_delivery).toBe(far.length);
  await expect.poll(async () => (await counts()).conversionsWithoutStamp, { timeout: 60_000 }).toBe(0);
});

it('holds the same in both stores', async () => {
  const { output, lines } = collectedOutput();
  await runAudit(service.context, {}, output);
  expect(lines).toContain('Postgres and ClickHouse agree.');
});

it('changes with the regime of the generation that is served, and changes back', async () => {
  const run = async (...args: string[]) => {
    const { output } = collectedOutput();
    expect(await runStoreCommand(service.context, parseCommand(['reprocess', ...args]), output)).toBe(0);
  };
  const etag = async () => (await client.raw('/api/conversions/?pageSize=1')).headers.get('etag');
  const swap = async (way: string) => {
    const before = await etag();
    await run(way);
    await expect.poll(etag, { timeout: 30_000 }).not.toBe(before);
  };
  const asBackfill = await shown();
  const byValue = '/api/conversions/?sort=largest&pageSize=2';
  const { nextCursor: placeAsBackfill } = await client.json(byValue);
  await run('--regime', 'live');
  expect(await shown()).toEqual(asBackfill);
  const goOn = (place: string) => client.raw(`${byValue}&cursor=${place}`);
  expect((await goOn(placeAsBackfill)).status).toBe(200);
  await swap('--swap');
  const stale = await goOn(placeAsBackfill);
  expect([stale.status, await stale.json()]).toMatchObject([409, { code: 'cursor_rewound', nextCursor: null }]);
  const { nextCursor: placeAsLive } = await client.json(byValue);
  expect((await goOn(placeAsLive)).status).toBe(200);
  const { unmatched } = asBackfill;
  const asLive = { refunded: [], unmatched: [...unmatched, ...keys(far)].sort() };
  expect(await shown()).toEqual(asLive);
  const { conversionsWithoutStamp: _, ...pushed } = await counts();
  expect(pushed).toEqual(await counted('live'));
  await run('--drop', '1');
  // Starts from a generation that has none of them.
  await run('--regime', 'cutover');
  expect(await shown()).toEqual(asLive);
  await swap('--swap');
  expect(await shown()).toEqual(asBackfill);
  const { output, lines } = collectedOutput();
  await runAudit(service.context, {}, output);
  expect(lines).toContain('Postgres and ClickHouse agree.');
});
