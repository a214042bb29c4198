/** The volumes that getcurrencystate adds on request: conversions by pair, with the prices of the bought currency. */
import { base58 } from '@scure/base';
import { coinsToSatoshis, type ExactNumber, SATOSHIS_PER_COIN as ONE } from '../../domain/satoshi.ts';
import { coins, type Members, parsed } from './canonical.ts';
import type { Ours } from './comparison.ts';

export interface ConvertedTransfer {
  readonly from: string;
  readonly to: string;
  /** Satoshis. */
  readonly amount: string;
  readonly fee: string;
}

export interface ImportRow {
  readonly height: number;
  readonly currency_id: string;
  /** State after the import, JSON text. */
  readonly state: string;
  readonly transfers: readonly ConvertedTransfer[];
}

const CONVERT = 2;

const SQL = `SELECT i.height, i.currency_id, s.state, (
    SELECT coalesce(json_agg(json_build_object('from', from_currency_id, 'to', to_currency_id, 'amount', amount_in::text,
      'fee', conversion_fee::text) ORDER BY export_index), '[]')
    FROM transfers t WHERE t.chain = i.chain AND t.import_txid = i.txid AND t.to_height IS NULL AND t.flags & ${CONVERT} > 0
      AND t.import_currency_id = i.currency_id) AS transfers
  FROM imports i JOIN currency_states s ON s.chain = i.chain AND s.txid = i.txid AND s.currency_id = i.currency_id
  WHERE i.chain = $1 ORDER BY i.height, i.tx_index, i.vout`;

/** Imports in chain order; of several imports of a currency in one block the daemon keeps only the last. */
export async function readImports({ postgres, chain }: Ours): Promise<readonly ImportRow[]> {
  const { rows } = await postgres.pool.query<Omit<ImportRow, 'transfers'> & { transfers: string }>(SQL, [chain]);
  const imports = rows.map(({ transfers, ...row }) => ({
    ...row,
    transfers: JSON.parse(transfers) as ConvertedTransfer[],
  }));
  return [...new Map(imports.map((row) => [`${row.height} ${row.currency_id}`, row])).values()];
}

/** Price of one unit of the bought currency by the currency that pays, in satoshis of that currency. */
type Rates = ReadonlyMap<string, bigint>;

interface Interval {
  volume: bigint;
  open: bigint;
  high: bigint;
  low: bigint;
  close: bigint;
}

export class ConversionData {
  /** Satoshis of the volume currency. */
  total = 0n;
  readonly #volumeCurrency: string;
  readonly #native: string;
  readonly #nameOf: (id: string) => string;

  constructor(volumeCurrency: string, native: string, nameOf: (id: string) => string) {
    this.#volumeCurrency = volumeCurrency;
    this.#native = native;
    this.#nameOf = nameOf;
  }

  /** Returns null when nothing was converted. */
  of(imports: readonly ImportRow[]): Members | null {
    const pairs = new Map<string, Interval>();
    let volume = 0n;
    for (const { currency_id: basket, state, transfers } of imports) {
      const ratesTo = ratesOf(basket, parsed(state));
      const inVolume = ratesTo(this.#volumeCurrency);
      for (const { from, to, amount, fee } of transfers) {
        const sold = [[to, BigInt(amount) - BigInt(fee)] as const];
        if (from !== this.#native) sold.push([this.#native, BigInt(fee)]);
        for (const [target, satoshis] of sold) {
          const worth = bought(satoshis, inVolume.get(from) ?? 0n);
          volume += worth;
          book(pairs, `${from} ${target}`, worth, ratesTo(target).get(from) ?? 0n);
        }
      }
    }
    this.total += volume;
    if (pairs.size === 0) return null;
    return {
      volumecurrency: this.#nameOf(this.#volumeCurrency),
      volumethisinterval: coins(volume),
      volumepairs: [...pairs]
        .sort(([a], [b]) => Buffer.compare(bytesOf(a), bytesOf(b)))
        .map((entry) => this.#pair(entry)),
    };
  }

  #pair([ids, { volume, open, high, low, close }]: [string, Interval]): Members {
    const [currency = '', convertto = ''] = ids.split(' ').map((id) => this.#nameOf(id));
    const prices = { open: coins(open), high: coins(high), low: coins(low), close: coins(close) };
    return { currency, convertto, volume: coins(volume), ...prices };
  }
}

function book(pairs: Map<string, Interval>, pair: string, worth: bigint, rate: bigint): void {
  const known = pairs.get(pair) ?? { volume: 0n, open: 0n, high: 0n, low: 0n, close: 0n };
  known.volume += worth;
  known.open ||= rate;
  known.high = known.high > rate ? known.high : rate;
  known.low = known.low > 0n && known.low < rate ? known.low : rate;
  known.close = rate;
  pairs.set(pair, known);
}

/** The prices at which an import executed conversions to any currency of the basket. */
function ratesOf(basket: string, state: Members): (target: string) => Rates {
  const reserves = Object.entries(state.currencies as Readonly<Record<string, Readonly<Record<string, ExactNumber>>>>);
  const price = new Map(reserves.map(([id, of]) => [id, coinsToSatoshis(of.lastconversionprice ?? 0)]));
  const viaPrice = new Map(reserves.map(([id, of]) => [id, coinsToSatoshis(of.viaconversionprice ?? 0)]));
  return (target) => {
    if (target === basket) return new Map([...price, [basket, ONE]]);
    if (!price.has(target)) return new Map([[target, ONE]]);
    const tokens = bought(ONE, viaPrice.get(target) ?? 0n);
    const others = [...price].map(([id, cost]) => [id, id === target ? ONE : (tokens * cost) / ONE] as const);
    return new Map([...others, [basket, bought(ONE, price.get(target) ?? 0n)]]);
  };
}

const bought = (amount: bigint, price: bigint): bigint => (price === 0n ? 0n : (amount * ONE) / price);

/** Sort key for the daemon's order of pairs. */
const bytesOf = (pair: string) => Buffer.concat(pair.split(' ').map((id) => base58.decode(id).subarray(1, 21)));
