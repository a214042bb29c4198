/** The data set equals the API in counts, sums and randomly chosen rows. */
import { beforeAll, expect, it } from 'vitest';
import { NATIVE } from '../api/running-service.ts';
import { rowsOf } from '../support/datasets/check-folder.ts';
import type { DuckDb } from '../support/datasets/duckdb.ts';
import type { ExportedService, OpenedDataset } from './exported-service.ts';

/** Maximum of compared rows for each table; most tables of the recording have fewer. */
const MOST_ROWS = 10_000;
const COIN = 100_000_000n;
const USD_MEMBERS = [
  ['from_usd', 'fromUsd'],
  ['to_usd', 'toUsd'],
  ['usd_value', 'usdValue'],
  ['priced_currency_usd', 'pricedCurrencyUsd'],
] as const;
type Row = Readonly<Record<string, string | number | boolean | null>>;

export function datasetEqualsApi(opened: () => OpenedDataset): void {
  let service: ExportedService;
  let duckdb: DuckDb;
  beforeAll(() => {
    ({ service, duckdb } = opened());
  });

  async function api<T>(path: string): Promise<T> {
    const answer = await fetch(`${service.url}${path}${path.includes('?') ? '&' : '?'}numbers=text`);
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as T;
  }

  interface Page {
    readonly results: readonly Row[];
    readonly total: string;
    readonly nextCursor: string | null;
  }

  async function wholeList(path: string): Promise<Row[]> {
    const rows: Row[] = [];
    for (let cursor = ''; ; ) {
      const page: Page = await api(`${path}${path.includes('?') ? '&' : '?'}pageSize=100${cursor}`);
      rows.push(...page.results);
      if (page.nextCursor === null) return rows;
      cursor = `&cursor=${encodeURIComponent(page.nextCursor)}`;
    }
  }

  /** Converts a decimal of the API to satoshis. */
  function satoshis(decimal: string): bigint {
    const [whole = '0', fraction = ''] = decimal.split('.');
    return BigInt(whole) * COIN + BigInt(fraction.padEnd(8, '0'));
  }

  const read = async (table: string, columns: string, rest = ''): Promise<Row[]> =>
    (await duckdb.rows(`SELECT ${columns} FROM ${await rowsOf(service.folder, table)} ${rest}`)) as Row[];
  const sample = `USING SAMPLE ${MOST_ROWS} ROWS (reservoir, 1)`;
  const keyOf = ({ txid, vout }: Row) => `${txid} ${vout}`;

  it('conversions: each settled one with amounts and stamp, and the sums', async () => {
    const shown = (await wholeList('/api/conversions/')).filter(
      ({ status, importHeight }) => status !== 'pending' && importHeight !== null,
    );
    const rows = await read('conversions', '*');
    expect(rows.map(keyOf).sort()).toEqual(shown.map(keyOf).sort());
    const byKey = new Map(rows.map((row) => [keyOf(row), row]));
    let [own, ours] = [0, 0];
    for (const conversion of shown) {
      const row = byKey.get(keyOf(conversion)) ?? {};
      expect(String(row.amount_in)).toBe(String(satoshis(String(conversion.amountIn))));
      if (conversion.amountOut !== null)
        expect(String(row.amount_out)).toBe(String(satoshis(String(conversion.amountOut))));
      const number = (value: Row[string] | undefined) => (value === null ? null : Number(value));
      expect({ ...row, time: undefined }).toMatchObject({
        chain: conversion.importChain,
        height: number(conversion.importHeight),
        kind: conversion.type,
        status: conversion.status,
        from_currency_id: conversion.fromCurrencyId,
        to_currency_id: conversion.toCurrencyId,
        via_currency_id: conversion.viaCurrencyId,
        basket_id: conversion.basketId,
        source: conversion.source,
        destination: conversion.destination,
        request_height: number(conversion.height),
        rule: conversion.rule,
        regime: conversion.regime,
        diverged: conversion.diverged,
        provisional: conversion.provisional,
        reason: conversion.stampReason,
        priced_currency_id: conversion.pricedCurrencyId,
        price_basket: conversion.priceBasket,
        price_height: number(conversion.priceHeight),
        regime_version: number(conversion.regimeVersion),
      });
      expect(String(row.conversion_fee)).toBe(String(satoshis(String(conversion.fee))));
      for (const [column, member] of USD_MEMBERS) {
        const [own, shown] = [row[column], conversion[member]];
        expect(own === null, column).toBe(shown === null);
        expect(Math.abs(Number(own ?? 0) - Number(shown ?? 0)), column).toBeLessThan(1e-8 * Math.max(1, Number(shown)));
      }
      own += Number(row.usd_value ?? 0);
      ours += Number(conversion.usdValue ?? 0);
    }
    expect(ours).toBeGreaterThan(0);
    expect(Math.abs(own - ours)).toBeLessThan(1e-8 * shown.length);
  });

  it('blocks and their transactions', async () => {
    const blocks = new Map((await wholeList('/api/blocks/')).map((block) => [Number(block.height), block]));
    const rows = await read('blocks', 'height, hash, size, tx_count, epoch(time)::BIGINT AS time', sample);
    expect(rows.length).toBe(blocks.size);
    for (const row of rows) {
      const block = blocks.get(Number(row.height)) ?? {};
      expect([row.hash, row.size, row.tx_count, Number(row.time)]).toEqual([
        block.hash,
        Number(block.size),
        Number(block.txCount),
        Number(block.time),
      ]);
    }
    const [sums] = await read('blocks', 'sum(tx_count) AS n');
    const [counted] = await read('transactions', 'count(*) AS n');
    expect(counted?.n).toBe(sums?.n);
  });

  it('balances equal the sums of the deltas', async () => {
    const rows = await read(
      'balance_deltas',
      'address, sum(received - sent) AS balance',
      `WHERE currency_id = '${NATIVE}' GROUP BY address ORDER BY balance DESC, address LIMIT 50`,
    );
    expect(rows.length).toBeGreaterThan(10);
    for (const { address, balance } of rows) {
      const { native: shown } = await api<Row>(`/api/address/${address}/balance?height=${service.node.height}`);
      expect(satoshis(String(shown)).toString(), String(address)).toBe(String(balance));
    }
  });

  it('prices: the newest of each listed currency', async () => {
    const rows = await read('prices', 'currency_id, arg_max(usd_price, height) AS price', 'GROUP BY currency_id');
    const listed = await api<readonly Row[]>(`/api/oracle/prices?height=${service.node.height}`);
    // The list omits currencies with little depth.
    expect(listed.length).toBeGreaterThan(2);
    const newest = new Map(rows.map(({ currency_id: id, price }) => [id, Number(price)]));
    for (const { currencyId, usdPrice } of listed) {
      expect(Math.abs(Number(usdPrice) / (newest.get(currencyId ?? null) ?? 0) - 1), String(currencyId)).toBeLessThan(
        1e-9,
      );
    }
  });

  it('identities and rewards', async () => {
    const identities = await wholeList('/api/identity/');
    const [counted] = await read('identity_states', 'count(DISTINCT identity_address) AS n');
    expect(Number(counted?.n)).toBe(identities.length);
    const [first] = await read(
      'rewards',
      'address, count(*) AS n, sum(amount) AS amount',
      'GROUP BY address ORDER BY n DESC, address LIMIT 1',
    );
    const { total } = await api<Page>(`/api/address/${first?.address}/rewards?pageSize=1`);
    expect(Number(first?.n)).toBe(Number(total));
  });
}
