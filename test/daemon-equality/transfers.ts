/** getimports and getexports for every currency, over the whole chain and over ranges. */
import { parseExact } from '../../domain/json/exact-json.ts';
import { recordedText } from '../api/truth.ts';
import { canonical, type Members, parsed } from './canonical.ts';
import type { EqualityComparison, Ours } from './comparison.ts';
import { answersOf, tip } from './recorded-answers.ts';

const CURRENCIES_SQL = 'SELECT name, currency_id FROM currencies WHERE chain = $1 AND to_height IS NULL';

/** An import with its decoded output, the first accepted notarization after it, and its export's transfers in order. */
const IMPORTS_SQL = `SELECT i.height, i.txid, i.vout, own.data AS own, (
      SELECT n.data FROM outputs n WHERE n.chain = i.chain AND n.txid = i.txid AND n.n > i.vout
        AND n.kind = 'acceptednotarization' ORDER BY n.n LIMIT 1) AS notarization,
    (SELECT e.transfers FROM exports e WHERE e.chain = i.chain AND e.txid = i.export_txid AND e.vout = i.export_vout) AS transfers
  FROM imports i JOIN outputs own ON own.chain = i.chain AND own.txid = i.txid AND own.n = i.vout
  WHERE i.chain = $1 AND i.currency_id = $2 AND i.height BETWEEN $3 AND $4 ORDER BY i.height, i.tx_index, i.vout`;
const EXPORTS_SQL = `SELECT e.height, e.txid, e.vout, own.data AS own, e.transfers
  FROM exports e JOIN outputs own ON own.chain = e.chain AND own.txid = e.txid AND own.n = e.vout
  WHERE e.chain = $1 AND e.currency_id = $2 AND e.height BETWEEN $3 AND $4 ORDER BY e.height, e.tx_index, e.vout`;
const TRANSFER_SQL = 'SELECT data FROM outputs WHERE chain = $1 AND txid = $2 AND n = $3';

interface Row {
  readonly height: number;
  readonly txid: string;
  readonly vout: number;
  readonly own: string;
  readonly notarization?: string;
  readonly transfers: string | null;
}

async function transfersOf({ postgres, chain }: Ours, list: string | null): Promise<unknown[]> {
  const transfers: unknown[] = [];
  for (const { txid, vout } of JSON.parse(list ?? '[]') as { txid: string; vout: number }[]) {
    const { rows } = await postgres.pool.query<{ data: string }>(TRANSFER_SQL, [chain, `\\x${txid}`, vout]);
    transfers.push(parseExact(rows[0]?.data ?? 'null'));
  }
  return transfers;
}

type Rows = (ours: Ours, currencyId: string, from: number, to: number) => Promise<Members[]>;

export const getimports: Rows = async (ours, currencyId, from, to) => {
  const { rows } = await ours.postgres.pool.query<Row>(IMPORTS_SQL, [ours.chain, currencyId, from, to]);
  return Promise.all(
    rows.map(async (row) => ({
      importheight: row.height,
      importtxid: row.txid,
      importvout: row.vout,
      import: parseExact(row.own),
      importnotarization: parseExact(row.notarization ?? 'null'),
      transfers: await transfersOf(ours, row.transfers),
    })),
  );
};

export const getexports: Rows = async (ours, currencyId, from, to) => {
  const { rows } = await ours.postgres.pool.query<Row>(EXPORTS_SQL, [ours.chain, currencyId, from, to]);
  return Promise.all(
    rows.map(async (row) => ({
      height: row.height,
      txid: row.txid,
      txoutnum: row.vout,
      exportinfo: parseExact(row.own),
      transfers: await transfersOf(ours, row.transfers),
    })),
  );
};

/** Not compared: a proof that only the daemon makes. */
export const PROOF = new Set(['partialtransactionproof']);

const comparison = (method: 'getimports' | 'getexports', own: Rows): EqualityComparison => ({
  method,
  async *answers(ours) {
    const { rows } = await ours.postgres.pool.query<{ name: string; currency_id: string }>(CURRENCIES_SQL, [
      ours.chain,
    ]);
    const ids = new Map(
      rows.flatMap((row) => [[row.name, row.currency_id] as const, [row.currency_id, row.currency_id] as const]),
    );
    const series = parsed(recordedText(`series/${method.slice(3)}.json.gz`));
    const whole = Object.entries(series).map(([name, result]) => ({ name, params: [name], result }));
    for (const { name, params, result } of [...whole, ...answersOf(method)]) {
      const [currency, from = 0, to = 0] = params;
      const id = ids.get(String(currency));
      if (id === undefined || params.length > 3) continue;
      const mine = await own(ours, id, Number(from), Number(to) || tip);
      yield { asked: name, expected: canonical(result ?? [], PROOF), ours: canonical(mine) };
    }
  },
});

export const transferComparisons: readonly EqualityComparison[] = [
  comparison('getimports', getimports),
  comparison('getexports', getexports),
];
