/** The API's answers to the eleven questions of analysts, with the columns of the examples. */
import type { AnswerRow, ChosenWords } from './plain-answers.ts';

type Row = Readonly<Record<string, string | null>>;

const COIN = 100_000_000n;

/** A decimal of the API in satoshis. */
export function satoshis(decimal: string | null | undefined): bigint {
  const [whole = '0', fraction = ''] = (decimal ?? '0').split('.');
  return BigInt(whole) * COIN + BigInt(fraction.padEnd(8, '0'));
}

const sum = (values: readonly (string | null | undefined)[]) =>
  String(values.reduce((total, value) => total + Number(value ?? 0), 0));
const satoshiSum = (values: readonly (string | null | undefined)[]) =>
  values.reduce<bigint>((total, value) => total + satoshis(value), 0n);

/** `url`: base URL of the service; numbers are requested as text. */
export async function apiAnswers(url: string, chosen: ChosenWords): Promise<ReadonlyMap<number, readonly AnswerRow[]>> {
  const { basket, currency, address, height } = chosen;
  const ask = async <T>(path: string, query: Readonly<Record<string, string>> = {}): Promise<T> => {
    const answer = await fetch(`${url}${path}?${new URLSearchParams({ ...query, numbers: 'text' })}`);
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as T;
  };
  const list = async (path: string, query: Readonly<Record<string, string>>): Promise<Row[]> => {
    const rows: Row[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page: { readonly results: Row[]; readonly nextCursor: string | null } = await ask(path, {
        ...query,
        pageSize: '100',
        ...(cursor && { cursor }),
      });
      rows.push(...page.results);
      cursor = page.nextCursor;
    }
    return rows;
  };
  const moment = (text: string) => new Date(text).toISOString();
  const pair = ({ fromCurrencyId, toCurrencyId }: Row) => {
    return { from_currency_id: fromCurrencyId ?? null, to_currency_id: toCurrencyId ?? null };
  };
  const key = ({ txid, vout }: Row) => ({ txid: txid ?? null, vout: vout ?? null });
  const byPlace = (a: Row, b: Row) =>
    Number(a.importHeight) - Number(b.importHeight) || ((a.txid ?? '') < (b.txid ?? '') ? -1 : 1);
  const diverged = await list('/api/conversions/', { diverged: 'true' });

  const large = await list('/api/conversions/', {
    basket,
    minUsd: chosen.usd,
    executedFromTime: moment(chosen.from),
    executedToTime: moment(chosen.to),
  });
  const days = await ask<Row[]>('/api/market/pairs/volume', { days: '31' });
  const holders = await ask<{ results: Row[] }>(`/api/currency/${currency}/holders`, { height, limit: '20' });
  const held = await ask<{ balances: Row[] }>(`/api/address/${address}/balance`, { height });
  const largest = await ask<{ results: Row[] }>('/api/conversions/', { sort: 'largest', pageSize: '10' });
  const own = (await list(`/api/address/${address}/conversions`, { status: 'completed' })).filter(
    ({ source }) => source === address,
  );
  const block = await ask<Row>('/api/blocks/at', { time: moment(chosen.to) });
  const hours = await ask<{ data: Row[] }>(`/api/oracle/prices/${currency}/history`, { interval: '1h', limit: '1000' });
  const ofBasket = await list('/api/conversions/', { basket, status: 'completed' });
  const grouped = (rows: readonly Row[], by: (row: Row) => string) => [...Map.groupBy(rows, by).values()];
  return new Map<number, readonly AnswerRow[]>([
    [
      1,
      large
        .filter(({ usdValue }) => Number(usdValue) > Number(chosen.usd))
        .sort(byPlace)
        .map((row) => ({ ...key(row), height: row.importHeight, usd_value: row.usdValue })),
    ],
    [
      2,
      grouped(days, ({ date }) => String(date)).map((rows) => ({
        day: rows[0]?.date,
        trades: sum(rows.map(({ trades }) => trades)),
        usd: sum(rows.map(({ volumeUsd }) => volumeUsd)),
      })),
    ],
    [3, holders.results.map((row) => ({ address: row.address, balance: satoshis(row.balance) }))],
    [4, held.balances.map((row) => ({ currency_id: row.currencyId, balance: satoshis(row.balance) }))],
    [5, largest.results.map((row) => ({ ...key(row), usd_value: row.usdValue }))],
    [
      6,
      grouped(own, (row) => JSON.stringify(pair(row))).map((rows) => ({
        ...pair(rows[0] as Row),
        given: satoshiSum(rows.map(({ amountIn }) => amountIn)),
        got: satoshiSum(rows.map(({ amountOut }) => amountOut)),
        given_usd: sum(rows.map(({ fromUsd }) => fromUsd)),
        got_usd: sum(rows.map(({ toUsd }) => toUsd)),
      })),
    ],
    [
      7,
      diverged.toSorted(byPlace).map((row) => ({
        ...key(row),
        from_usd: row.fromUsd,
        to_usd: row.toUsd,
        usd_value: row.usdValue,
        rule: row.rule,
      })),
    ],
    [9, [{ height: block.height }]],
    [
      10,
      hours.data.map(({ createdAt, usdPrice }) => ({
        hour: String(createdAt).slice(0, 13).replace('T', ' '),
        usd_price: usdPrice,
      })),
    ],
    [
      11,
      grouped(ofBasket, ({ fromCurrencyId }) => String(fromCurrencyId)).map((rows) => ({
        from_currency_id: rows[0]?.fromCurrencyId,
        fees: satoshiSum(rows.map(({ fee }) => fee)),
      })),
    ],
  ]);
}
