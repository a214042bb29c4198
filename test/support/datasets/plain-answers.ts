/**
 * Expected answers to the eleven questions of analysts: plain sums over rows of Postgres, which neither ClickHouse nor the data set wrote,
 * and over the raw price rows of ClickHouse, because Postgres keeps only the newest prices.
 */
import type { Stores } from '../../../infra/stores.ts';

export type AnswerRow = Readonly<Record<string, unknown>>;

interface Conversion {
  readonly txid: string;
  readonly vout: number;
  readonly height: number;
  readonly time: bigint;
  readonly kind: string;
  readonly status: string;
  readonly from: string | null;
  readonly to: string;
  readonly basket: string | null;
  readonly source: string | null;
  readonly amountIn: bigint;
  readonly amountOut: bigint | null;
  readonly fee: bigint;
  readonly rule: string;
  readonly regime: string;
  readonly diverged: boolean;
  readonly fromUsd: string | null;
  readonly toUsd: string | null;
  readonly usd: string | null;
  readonly otherRegime: string | null;
  readonly otherUsd: string | null;
}

interface Activity {
  readonly address: string;
  readonly height: number;
  readonly received: bigint;
  readonly sent: bigint;
  /** JSON: net change of other currencies in satoshis. */
  readonly currencies: string | null;
}

interface Price {
  readonly currency: string;
  readonly height: number;
  readonly time: bigint;
  readonly price: string;
}

export interface PlainFacts {
  readonly conversions: readonly Conversion[];
  readonly activity: readonly Activity[];
  readonly blocks: readonly { readonly height: number; readonly clock: bigint }[];
  readonly prices: readonly Price[];
}

/** Values chosen for the placeholders of the examples. */
export interface ChosenWords {
  readonly basket: string;
  readonly currency: string;
  readonly address: string;
  readonly usd: string;
  readonly from: string;
  readonly to: string;
  readonly height: string;
}

/** Facts of one chain; generation 1 is served, generation 2 is the other one. */
export async function readPlainFacts({ postgres: { pool }, clickhouse }: Stores): Promise<PlainFacts> {
  const rows = async <T>(sql: string): Promise<T[]> => (await pool.query(sql)).rows as T[];
  return {
    conversions:
      await rows(`SELECT encode(t.txid, 'hex') AS txid, t.vout, t.import_height AS height, t.import_time AS time, t.kind, t.status,
        t.from_currency_id AS "from", t.to_currency_id AS "to", t.import_currency_id AS basket, t.source, t.amount_in AS "amountIn",
        t.amount_out AS "amountOut", t.conversion_fee AS fee, s.rule, s.regime, s.diverged, s.from_usd::text AS "fromUsd",
        s.to_usd::text AS "toUsd", s.usd_value::text AS usd, o.regime AS "otherRegime", o.usd_value::text AS "otherUsd"
      FROM transfers t JOIN stamps s USING (chain, txid, vout)
      LEFT JOIN stamps o ON o.generation = 2 AND o.chain = t.chain AND o.txid = t.txid AND o.vout = t.vout
      WHERE t.to_height IS NULL AND t.import_height IS NOT NULL AND s.generation = 1`),
    activity: await rows('SELECT address, height, received, sent, currencies FROM address_activity'),
    blocks: await rows('SELECT height, clock FROM blocks'),
    prices: (
      await clickhouse.query(
        'SELECT currency_id AS currency, height, toUnixTimestamp(time) AS time, toString(usd_price) AS price FROM prices WHERE generation = 1',
      )
    ).map(({ currency, height, time, price }) => ({
      currency: String(currency),
      height: Number(height),
      time: BigInt(String(time)),
      price: String(price),
    })),
  };
}

/** Decimals of a USD value in the data set. */
const PLACES = 18;
const ONE = 10n ** BigInt(PLACES);

/** A decimal, truncated to the decimal places of the data set. */
function scaled(decimal: string): bigint {
  const [whole = '0', fraction = ''] = decimal.replace('-', '').split('.');
  const value = BigInt(whole) * ONE + BigInt(fraction.slice(0, PLACES).padEnd(PLACES, '0'));
  return decimal.startsWith('-') ? -value : value;
}

function printed(value: bigint): string {
  const whole = value / ONE;
  return `${whole}.${String(value % ONE).padStart(PLACES, '0')}`;
}

const sumOf = (values: readonly (bigint | null)[]) =>
  values.reduce<bigint>((total, value) => total + (value ?? 0n), 0n);
const usdSum = (values: readonly (string | null)[]) =>
  printed(sumOf(values.map((value) => (value === null ? null : scaled(value)))));
const momentOf = (text: string) => BigInt(Date.parse(text.includes(' ') ? text : `${text} 00:00:00+00`)) / 1000n;
const iso = (time: bigint) => new Date(Number(time) * 1000).toISOString();
const groups = <T>(items: readonly T[], key: (item: T) => string) => [...Map.groupBy(items, key).values()];
const byText = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
const byPlace = (a: Conversion, b: Conversion) => a.height - b.height || byText(a.txid, b.txid) || a.vout - b.vout;
const worthOf = ({ usd }: Conversion) => scaled(usd ?? '0');

/** Answers by the number of the question. `native`: id of the chain's native currency. */
export function plainAnswers(
  { conversions, activity, blocks, prices }: PlainFacts,
  chosen: ChosenWords,
  native: string,
): ReadonlyMap<number, readonly AnswerRow[]> {
  const { basket, currency, address } = chosen;
  const [from, to] = [momentOf(chosen.from), momentOf(chosen.to)];
  const completed = conversions.filter(({ status }) => status === 'completed');
  const trades = completed.filter(({ kind }) => kind === 'convert' || kind === 'via');
  const pair = (one: Conversion) => ({ from_currency_id: one.from, to_currency_id: one.to });
  const changes = activity
    .filter(({ height }) => height <= Number(chosen.height))
    .flatMap(({ address: owner, received, sent, currencies }) => [
      { owner, id: native, change: received - sent },
      ...Object.entries(JSON.parse(currencies ?? '{}') as Record<string, string>).map(([id, net]) => ({
        owner,
        id,
        change: BigInt(net),
      })),
    ]);
  const balances = (of: (typeof changes)[number]['owner' | 'id'][], key: 'owner' | 'id', where: 'owner' | 'id') =>
    groups(
      changes.filter((change) => of.includes(change[where])),
      (change) => change[key],
    ).map((own) => ({ name: own[0]?.[key] ?? '', balance: sumOf(own.map(({ change }) => change)) }));
  const valued = conversions.filter(({ usd }) => usd !== null);
  return new Map<number, readonly AnswerRow[]>([
    [
      1,
      conversions
        .filter((one) => one.basket === basket && one.usd !== null && worthOf(one) > scaled(chosen.usd))
        .filter(({ time }) => time >= from && time < to)
        .sort(byPlace)
        .map(({ txid, vout, height, usd }) => ({ txid, vout, height, usd_value: printed(scaled(usd ?? '0')) })),
    ],
    [
      2,
      groups(trades, (one) => JSON.stringify([iso(one.time).slice(0, 10), pair(one)])).map((own) => ({
        day: iso(own[0]?.time ?? 0n).slice(0, 10),
        ...pair(own[0] as Conversion),
        trades: own.length,
        usd: usdSum(own.map(({ usd }) => usd)),
      })),
    ],
    [
      3,
      balances([currency], 'owner', 'id')
        .filter(({ balance }) => balance > 0n)
        .sort((a, b) => (a.balance === b.balance ? byText(a.name, b.name) : a.balance > b.balance ? -1 : 1))
        .slice(0, 20)
        .map(({ name, balance }) => ({ address: name, balance })),
    ],
    [
      4,
      balances([address], 'id', 'owner')
        .filter(({ balance }) => balance !== 0n)
        .map(({ name, balance }) => ({ currency_id: name, balance })),
    ],
    [
      5,
      valued
        .sort((a, b) =>
          worthOf(a) === worthOf(b) ? byText(a.txid, b.txid) || a.vout - b.vout : worthOf(a) > worthOf(b) ? -1 : 1,
        )
        .slice(0, 10)
        .map(({ txid, vout, usd }) => ({ txid, vout, usd_value: printed(scaled(usd ?? '0')) })),
    ],
    [
      6,
      groups(
        completed.filter(({ source }) => source === address),
        (one) => JSON.stringify(pair(one)),
      ).map((own) => ({
        ...pair(own[0] as Conversion),
        given: sumOf(own.map(({ amountIn }) => amountIn)),
        got: sumOf(own.map(({ amountOut }) => amountOut)),
        given_usd: usdSum(own.map(({ fromUsd }) => fromUsd)),
        got_usd: usdSum(own.map(({ toUsd }) => toUsd)),
      })),
    ],
    [
      7,
      conversions
        .filter(({ diverged }) => diverged)
        .sort(byPlace)
        .map(({ txid, vout, fromUsd, toUsd, usd, rule }) => {
          const shown = (value: string | null) => value && printed(scaled(value));
          return { txid, vout, from_usd: shown(fromUsd), to_usd: shown(toUsd), usd_value: shown(usd), rule };
        }),
    ],
    [
      8,
      groups(conversions, ({ regime, otherRegime }) => `${regime} ${otherRegime}`).map((own) => ({
        regime: own[0]?.regime,
        other_regime: own[0]?.otherRegime ?? null,
        n: own.length,
        usd: usdSum(own.map(({ usd }) => usd)),
        other_usd: usdSum(own.map(({ otherUsd }) => otherUsd)),
      })),
    ],
    [9, [{ height: Math.max(...blocks.filter(({ clock }) => clock <= to).map(({ height }) => height)) }]],
    [
      10,
      groups(
        prices.filter((price) => price.currency === currency),
        ({ time }) => iso(time).slice(0, 13),
      ).map((own) => {
        const last = own.sort((a, b) => b.height - a.height)[0] as Price;
        return { hour: iso(last.time).slice(0, 13).replace('T', ' '), usd_price: printed(scaled(last.price)) };
      }),
    ],
    [
      11,
      groups(
        completed.filter((one) => one.basket === basket),
        (one) => String(one.from),
      ).map((own) => ({ from_currency_id: own[0]?.from ?? null, fees: sumOf(own.map(({ fee }) => fee)) })),
    ],
  ]);
}

/** Makes answers of different engines comparable: numbers as text without trailing zeros, empty sums as 0, hours without their minutes. */
export function comparable(rows: readonly AnswerRow[], columns: readonly string[]): string[] {
  return rows.map((row) => JSON.stringify(columns.map((name) => plain(row[name], name))));
}

function plain(value: unknown, name: string): string | null {
  if (value === null || value === undefined) return SUMS.has(name) ? '0' : null;
  const text = String(value);
  if (name === 'day') return text.slice(0, 10);
  if (name === 'hour') return text.slice(0, 13);
  if (/^0E-\d+$/.test(text)) return '0';
  return /^-?\d+\.\d+$/.test(text) ? text.replace(/\.?0+$/, '') : text;
}

const SUMS = new Set(['usd', 'other_usd', 'given_usd', 'got_usd', 'got']);
