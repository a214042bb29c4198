/** Transfers between two chains: the data set and `v_bridge` equal Postgres and the API, also after a rewind has removed one end. */

import { afterAll, beforeAll, expect, it } from 'vitest';
import { run as sql } from '../../commands/sql.ts';
import { coinsToSatoshis } from '../../domain/satoshi.ts';
import { datasetTable } from '../../schemas/datasets/tables.ts';
import { type PairedService, SIDES } from '../api/paired-service.ts';
import { collectedOutput } from '../support/commands/collected-output.ts';
import { type DuckDb, openDuckDb } from '../support/datasets/duckdb.ts';
import { fetchedRows, isTime, keyOf, type PlainRow, plainRow } from '../support/datasets/plain-rows.ts';
import { storedRows } from '../support/datasets/stored-rows.ts';
import { type Exported, exportedPair } from './exported-service.ts';

const ALL = { most: 1_000_000, seed: 1 };
const silent = collectedOutput().output;
const bridge = datasetTable('bridge');
if (!bridge) throw new TypeError('no bridge');
let service: PairedService & Exported;
let duckdb: DuckDb;

beforeAll(async () => {
  service = await exportedPair();
  duckdb = await openDuckDb();
  for (const side of SIDES) await service.go(side, service.tips[side]);
  await service.settled();
});
afterAll(async () => {
  duckdb?.close();
  await service?.stop();
});

interface Shown {
  readonly results: readonly Readonly<Record<string, string | null>>[];
}

async function shownOf(chain: string): Promise<Shown['results']> {
  const answer = await fetch(`${service.url}/api/bridge/recent?chain=${chain}&pageSize=100&numbers=text`);
  return ((await answer.json()) as Shown).results;
}

const byKey = (rows: readonly PlainRow[]) => new Map(rows.map((row) => [bridge ? keyOf(bridge, row) : '', row]));

/** Returns the newest row of each transfer. */
function newest(rows: readonly PlainRow[]): PlainRow[] {
  const found = new Map<string, PlainRow>();
  for (const row of rows) {
    const key = `${row.chain} ${row.txid} ${row.vout}`;
    if (Number(row.height) > Number(found.get(key)?.height ?? -1)) found.set(key, row);
  }
  return [...found.values()];
}

async function equalEverywhere(): Promise<PlainRow[]> {
  await service.exported();
  if (!bridge) return [];
  const rows = await fetchedRows(duckdb, service.url, bridge, ALL);
  expect(byKey(rows)).toEqual(await storedRows(service.context.stores, bridge));
  const columns = bridge.columns.map((column) =>
    isTime(column) ? `toUnixTimestamp(${column.name}) AS ${column.name}` : column.name,
  );
  const input = {
    statement: `SELECT ${columns} FROM v_bridge`,
    format: undefined,
    rows: undefined,
    seconds: undefined,
  };
  const { state } = await sql(service.context, input, silent);
  const viewed = (state as { rows: Readonly<Record<string, unknown>>[] }).rows.map((row) => plainRow(bridge, row));
  expect(byKey(viewed)).toEqual(byKey(rows));
  for (const chain of SIDES) await equalsTheApi(chain, rows);
  return rows;
}

async function equalsTheApi(chain: string, rows: readonly PlainRow[]): Promise<void> {
  // Contributions to launches are only in the table.
  const own = newest(rows.filter((row) => row.chain === chain && row.kind !== 'preconvert'));
  const shown = await shownOf(chain);
  expect(shown.length).toBe(own.length);
  const asked = new Map(
    own.filter((row) => row.source_system_id === null).map((row) => [`${row.txid} ${row.vout}`, row]),
  );
  const out = shown.filter(({ direction }) => direction === 'out');
  expect(out.length).toBe(asked.size);
  for (const transfer of out) {
    expect(asked.get(`${transfer.txid} ${transfer.vout}`)).toMatchObject({
      kind: transfer.type,
      import_system_id: transfer.systemId,
      to_currency_id: transfer.toCurrencyId,
      amount_in: satoshis(transfer.amount),
      transfer_fee: satoshis(transfer.fee),
      transfer_fee_currency_id: transfer.feeCurrencyId,
      destination: transfer.recipient,
      request_height: transfer.height,
      request_time: transfer.time,
      export_txid: transfer.exportTxid,
    });
  }
  const inwards = own.filter((row) => row.source_system_id !== null);
  const amounts = (of: readonly (string | null | undefined)[]) => [...of].sort();
  expect(amounts(inwards.map((row) => `${row.import_txid} ${row.amount_in} ${row.amount_out}`))).toEqual(
    amounts(
      shown
        .filter(({ direction }) => direction === 'in')
        .map(({ importTxid, amount, amountOut }) => `${importTxid} ${satoshis(amount)} ${satoshis(amountOut)}`),
    ),
  );
}

const satoshis = (coins: string | null | undefined): string | null =>
  coins == null ? null : coinsToSatoshis(coins).toString();

it('transfers that leave one chain and arrive on the other', async () => {
  const rows = await equalEverywhere();
  const places = new Set(
    rows.map((row) => `${row.chain} ${row.source_system_id === null ? 'out' : 'in'} ${row.status}`),
  );
  expect([...places]).toEqual(expect.arrayContaining(['root out exported', 'pchain in completed']));
});

it('an end that a rewind removes is gone, and returns with its block', async () => {
  const before = await equalEverywhere();
  const last = Math.max(...before.filter(({ chain }) => chain === 'pchain').map(({ height }) => Number(height)));
  await service.go('pchain', last - 1);
  await service.settled();
  const without = await equalEverywhere();
  expect(without.length).toBeLessThan(before.length);
  await service.go('pchain', service.tips.pchain);
  await service.settled();
  expect(byKey(await equalEverywhere())).toEqual(byKey(before));
});
