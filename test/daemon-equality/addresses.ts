/** getaddressbalance, getaddressdeltas, getaddressutxos and getaddresstxids for every recorded address. */

import { parseExact } from '../../domain/json/exact-json.ts';
import type { Postgres } from '../../infra/postgres/postgres.ts';
import { truth } from '../api/truth.ts';
import { canonical, coins, type Members } from './canonical.ts';
import type { EqualityComparison, Ours } from './comparison.ts';
import { answerAt, answersOf, tip } from './recorded-answers.ts';

interface Recorded {
  readonly address: string;
  readonly getaddressdeltas: readonly Members[];
  readonly getaddressutxos: readonly Members[];
  readonly getaddresstxids: readonly string[];
}

const recorded: readonly Recorded[] = truth('address.json.gz');
/** Most heights to compare for an address with a long history. */
const SAMPLES = 40;

interface Query {
  readonly addresses: readonly string[];
  readonly from: number;
  readonly to: number;
}

/** Returns null for a query that is not compared, because its members change the answer in ways specific to the daemon. */
function readQuery([param, ...rest]: readonly unknown[]): Query | null {
  if (typeof param !== 'object' || param === null || rest.length > 0) return null;
  const { addresses, start, end, asofblock, ...more } = param as Members;
  if (Object.keys(more).length > 0 || !Array.isArray(addresses)) return null;
  if (!addresses.every((address) => /^[iR]\w{33}$/.test(String(address)))) return null;
  if (Number(start ?? 1) < 1 || Number(end ?? tip) < Number(start ?? 1)) return null;
  return { addresses, from: Number(start ?? 1), to: Math.min(Number(end ?? asofblock ?? tip), tip) };
}

const queries = (method: string) =>
  answersOf(method).flatMap(({ name, params, result }) => {
    const query = readQuery(params);
    return query ? [{ name, query, result }] : [];
  });

const BALANCES_SQL = `SELECT currency_id, sum(balance) AS balance, sum(received) AS received FROM balances
  WHERE chain = $1 AND address = ANY($2) AND from_height <= $3 AND (to_height IS NULL OR to_height > $3)
  GROUP BY currency_id`;

export async function balanceAt(
  { postgres, chain, native: nativeId }: Ours,
  addresses: readonly string[],
  height: number,
): Promise<string> {
  const { rows } = await postgres.pool.query<{ currency_id: string; balance: string; received: string }>(BALANCES_SQL, [
    chain,
    addresses,
    height,
  ]);
  const native = rows.find(({ currency_id }) => currency_id === nativeId);
  const total = { balance: Number(native?.balance ?? 0), received: Number(native?.received ?? 0) };
  if (rows.length === 0) return canonical(total);
  const by = (of: (row: (typeof rows)[number]) => string) =>
    Object.fromEntries(rows.map((row) => [row.currency_id, coins(of(row))]));
  return canonical({
    ...total,
    currencybalance: by(({ balance }) => balance),
    currencyreceived: by(({ received }) => received),
  });
}

const balances: EqualityComparison = {
  method: 'getaddressbalance',
  async *answers(ours) {
    for (const { name, query, result } of queries('getaddressbalance')) {
      // The daemon sums the whole history, whatever range the query has.
      const height = name.endsWith('asofblock') ? query.to : tip;
      yield { asked: name, expected: canonical(result), ours: await balanceAt(ours, query.addresses, height) };
    }
    for (const { address, getaddressdeltas } of recorded) {
      const changed = [...new Set(getaddressdeltas.map(({ height }) => Number(height)))];
      const step = Math.ceil(changed.length / SAMPLES);
      const asked = changed.filter((_, index) => index % step === 0).flatMap((height) => [height - 1, height]);
      for (const height of new Set([...asked.filter((at) => at > 0), tip])) {
        const expected = answerAt(height, 'getaddressbalance', { addresses: [address] });
        if (expected === undefined) throw new Error(`the recording has no balance of ${address}`);
        const expectedAnswer = canonical(parseExact(expected));
        yield {
          asked: `${address} ${height}`,
          expected: expectedAnswer,
          ours: await balanceAt(ours, [address], height),
        };
      }
    }
  },
};

interface DeltaRow {
  readonly txid: string;
  readonly index: number;
  readonly tx_index: number;
  readonly height: number;
  readonly spending: boolean;
  readonly address: string;
  readonly value: bigint;
  readonly currencies: string | null;
  readonly time: bigint;
}

/** The genesis block credits no address. */
const DELTAS_SQL = `SELECT d.*, b.time FROM (
    SELECT o.txid, o.n AS index, o.tx_index, o.from_height AS height, false AS spending, address, o.value, o.currencies
      FROM outputs o, unnest(o.addresses) address WHERE o.chain = $1 AND o.addresses && $2 AND address = ANY($2)
    UNION ALL
    SELECT o.spent_txid, o.spent_index, t.tx_index, o.to_height, true, address, -o.value, o.currencies
      FROM outputs o JOIN transactions t ON t.chain = o.chain AND t.txid = o.spent_txid, unnest(o.addresses) address
      WHERE o.chain = $1 AND o.addresses && $2 AND address = ANY($2)
  ) d JOIN blocks b ON b.chain = $1 AND b.height = d.height WHERE d.height BETWEEN greatest($3, 1) AND $4`;

export async function deltasOf({ postgres, chain, native }: Ours, { addresses, from, to }: Query): Promise<Members[]> {
  const { rows } = await postgres.pool.query<DeltaRow>(DELTAS_SQL, [chain, addresses, from, to]);
  return rows.map((row) => {
    const tokens = Object.entries(JSON.parse(row.currencies ?? '{}') as Record<string, string>);
    const moved = tokens.map(([id, amount]) => [id, coins(row.spending ? -BigInt(amount) : amount)] as const);
    const all = Object.fromEntries(row.value === 0n ? moved : [[native, coins(row.value)], ...moved]);
    return {
      satoshis: Number(row.value),
      txid: row.txid,
      index: row.index,
      blockindex: row.tx_index,
      height: row.height,
      spending: row.spending,
      address: row.address,
      blocktime: Number(row.time),
      ...(Object.keys(all).length > 0 ? { currencyvalues: all } : {}),
    };
  });
}

/** Not compared: the member `sent` repeats the outputs of the spending transaction. */
export const SENT = new Set(['sent']);
const place = (delta: Members) =>
  [delta.height, delta.blockindex, delta.index, delta.spending, delta.address].join(' ');
export const inOrder = (deltas: readonly Members[]) => [...deltas].sort((a, b) => (place(a) < place(b) ? -1 : 1));

const deltas: EqualityComparison = {
  method: 'getaddressdeltas',
  async *answers(ours) {
    const whole = recorded.map(({ address, getaddressdeltas: result }) => {
      return { name: address, query: { addresses: [address], from: 1, to: tip }, result };
    });
    for (const { name, query, result } of [...queries('getaddressdeltas'), ...whole]) {
      const expectedAnswer = (result as readonly Members[]).filter(({ height }) => Number(height) > 0);
      const own = await deltasOf(ours, query);
      yield { asked: name, expected: canonical(inOrder(expectedAnswer), SENT), ours: canonical(inOrder(own)) };
    }
  },
};

/** In chain order; for several addresses the daemon sorts the transactions of a block by their txid text. */
const TXIDS_SQL = `SELECT txid FROM address_activity WHERE chain = $1 AND address = ANY($2) AND height BETWEEN $3 AND $4
  GROUP BY txid, height, tx_index ORDER BY height, CASE WHEN cardinality($2) > 1 THEN encode(txid, 'hex') END, tx_index`;

export async function txidsOf(postgres: Postgres, chain: string, { addresses, from, to }: Query): Promise<string> {
  const { rows } = await postgres.pool.query<{ txid: string }>(TXIDS_SQL, [chain, addresses, from, to]);
  return canonical(rows.map(({ txid }) => txid));
}

const txids: EqualityComparison = {
  method: 'getaddresstxids',
  async *answers({ postgres, chain }) {
    const whole = recorded.map(({ address, getaddresstxids: result }) => {
      return { name: address, query: { addresses: [address], from: 1, to: tip }, result };
    });
    for (const { name, query, result } of [...queries('getaddresstxids'), ...whole]) {
      yield { asked: name, expected: canonical(result), ours: await txidsOf(postgres, chain, query) };
    }
  },
};

const UTXOS_SQL = `SELECT o.txid, o.n, o.from_height AS height, o.addresses, o.value, o.currencies, b.time, address
  FROM outputs o JOIN blocks b ON b.chain = o.chain AND b.height = o.from_height, unnest(o.addresses) address
  WHERE o.chain = $1 AND o.addresses && $2 AND address = ANY($2) AND o.to_height IS NULL AND o.from_height > 0`;

interface UnspentRow {
  readonly txid: string;
  readonly n: number;
  readonly height: number;
  readonly addresses: readonly string[];
  readonly address: string;
  readonly value: bigint;
  readonly currencies: string | null;
  readonly time: bigint;
}

/** Amounts without the native coin, which is in `satoshis` too. */
function tokensOf(values: Members, native: string): Members {
  return Object.fromEntries(Object.entries(values).filter(([id]) => id !== native));
}

const utxoPlace = ({ txid, outputIndex, address }: Members) => `${txid} ${outputIndex} ${address}`;
export const unspentInOrder = (outputs: readonly Members[]) =>
  canonical([...outputs].sort((a, b) => (utxoPlace(a) < utxoPlace(b) ? -1 : 1)));

/** Drops the members that the stores do not have: script bytes, and whether the wallet can spend the output. */
export function comparableUnspent(expectedAnswer: Members, native: string): Members {
  const { script: _, isspendable: __, currencyvalues, addresses, ...rest } = expectedAnswer;
  const all = Array.isArray(addresses) ? [...new Set(addresses)].sort() : [expectedAnswer.address];
  return { ...rest, addresses: all, tokens: tokensOf((currencyvalues ?? {}) as Members, native) };
}

export async function unspentOf({ postgres, chain }: Ours, addresses: readonly string[]): Promise<Members[]> {
  const { rows } = await postgres.pool.query<UnspentRow>(UTXOS_SQL, [chain, addresses]);
  return rows.map((row) => ({
    address: row.address,
    txid: row.txid,
    outputIndex: row.n,
    satoshis: Number(row.value),
    height: row.height,
    blocktime: Number(row.time),
    addresses: [...row.addresses].sort(),
    tokens: Object.fromEntries(
      Object.entries(JSON.parse(row.currencies ?? '{}') as Record<string, string>).map(([id, amount]) => [
        id,
        coins(amount),
      ]),
    ),
  }));
}

const utxos: EqualityComparison = {
  method: 'getaddressutxos',
  async *answers(ours) {
    const whole = recorded.map(({ address, getaddressutxos: result }) => {
      return { name: address, query: { addresses: [address] }, result };
    });
    for (const { name, query, result } of [...queries('getaddressutxos'), ...whole]) {
      const expectedAnswer = (result as readonly Members[]).map((output) => comparableUnspent(output, ours.native));
      const own = await unspentOf(ours, query.addresses);
      yield { asked: name, expected: unspentInOrder(expectedAnswer), ours: unspentInOrder(own) };
    }
  },
};

export const addressComparisons: readonly EqualityComparison[] = [balances, deltas, utxos, txids];
