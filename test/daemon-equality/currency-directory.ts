/** Definitions and states of a chain's currencies from the stores, evaluated like the daemon evaluates its own. */
import { base58 } from '@scure/base';
import { canonical, type Members, parsed } from './canonical.ts';
import type { Ours } from './comparison.ts';
import { forecastLaunch, type WaitingTransfer } from './launch-forecast.ts';
import { tip } from './recorded-answers.ts';

export interface DefinitionRow {
  readonly currency_id: string;
  readonly name: string;
  readonly fully_qualified_name: string;
  readonly from_height: number;
  readonly txid: string;
  readonly vout: number;
  readonly definition: string;
}

export interface CurrencyStateRow {
  readonly currency_id: string;
  readonly from_height: number;
  readonly to_height: number | null;
  readonly txid: string;
  readonly vout: number;
  readonly state: string;
  readonly notarization: string;
  /** Whether the notarization is unspent. */
  readonly unspent: boolean;
}

interface TransferRow extends WaitingTransfer {
  readonly import_currency_id: string;
  readonly from_height: number;
  readonly to_height: number | null;
}

const DEFINITIONS_SQL = `SELECT currency_id, name, fully_qualified_name, from_height, txid, vout, definition FROM currencies
  WHERE chain = $1 AND to_height IS NULL`;
const STATES_SQL = `SELECT s.currency_id, s.from_height, s.to_height, s.txid, s.vout, s.state, o.data AS notarization,
    o.to_height IS NULL AS unspent
  FROM currency_states s JOIN outputs o ON o.chain = s.chain AND o.txid = s.txid AND o.n = s.vout
  WHERE s.chain = $1 ORDER BY s.from_height, s.tx_index, s.vout`;
const WAITING_SQL = `SELECT import_currency_id, from_height, to_height, kind, from_currency_id, amount_in, transfer_fee,
    transfer_fee_currency_id
  FROM transfers WHERE chain = $1 AND status = 'pending'`;

/** A query for a currency's state: transfers that waited for the next export at the time of the query count. */
export interface RecordedRequest {
  readonly height: number;
  /** Height of the chain at the time of the query. */
  readonly at: number;
}

export class RecordedCurrencies {
  readonly definitions: readonly DefinitionRow[];
  readonly states: readonly CurrencyStateRow[];
  readonly #times: readonly number[];
  readonly #statesOf: ReadonlyMap<string, readonly CurrencyStateRow[]>;
  readonly #transfers: readonly TransferRow[];

  private constructor(
    definitions: readonly DefinitionRow[],
    states: readonly CurrencyStateRow[],
    transfers: readonly TransferRow[],
    times: readonly number[],
  ) {
    this.definitions = definitions;
    this.states = states;
    this.#times = times;
    this.#transfers = transfers;
    this.#statesOf = Map.groupBy(states, ({ currency_id }) => currency_id);
  }

  static async read({ postgres, chain }: Ours): Promise<RecordedCurrencies> {
    const of = async <T extends object>(sql: string) => (await postgres.pool.query<T>(sql, [chain])).rows;
    const blocks = await of<{ time: bigint }>('SELECT time FROM blocks WHERE chain = $1 ORDER BY height');
    return new RecordedCurrencies(
      await of<DefinitionRow>(DEFINITIONS_SQL),
      await of<CurrencyStateRow>(STATES_SQL),
      await of<TransferRow>(WAITING_SQL),
      blocks.map(({ time }) => Number(time)),
    );
  }

  named(text: unknown): DefinitionRow | undefined {
    const folded = String(text).toLowerCase();
    return this.definitions.find(({ currency_id, name }) => currency_id === text || name.toLowerCase() === folded);
  }

  nameOf(id: string): string {
    return this.named(id)?.fully_qualified_name ?? 'VRSCTEST';
  }

  /** The notarised state as of a height; before the first state of a currency, that first state. */
  notarisedAt(id: string, height: number): CurrencyStateRow | undefined {
    const states = this.#statesOf.get(id) ?? [];
    const at = states.filter(({ from_height, to_height }) => {
      return from_height <= height && (to_height === null || to_height > height);
    });
    return at.at(-1) ?? states[0];
  }

  /** The notarised state; before the launch, the state that would be notarised next. */
  stateAt({ currency_id, definition, from_height }: DefinitionRow, { height, at }: RecordedRequest): Members {
    const row = this.notarisedAt(currency_id, height);
    if (!row) throw new Error(`${currency_id} has no state`);
    const last = parsed(row.state);
    const notarization = parsed(row.notarization);
    const defined = parsed(definition);
    const clearing = Number(defined.startblock) - 1;
    if (height <= from_height || Number(notarization.notarizationheight) >= clearing) return last;
    if (height >= clearing) return this.#clearedAt(currency_id, clearing);
    const waiting = this.#transfers.filter((transfer) => {
      const { import_currency_id: id, from_height: from, to_height: to } = transfer;
      return id === currency_id && from <= Math.min(at, clearing) && (to === null || to > at);
    });
    if (last.reservecurrencies === undefined) {
      if (waiting.length > 0) throw new Error('preconversions of tokens are not modelled');
      return last;
    }
    return forecastLaunch(defined, last, { isFirst: notarization.isdefinition === true, waiting });
  }

  /** The first state that is notarised for the block before the launch; later transfers do not count. */
  #clearedAt(id: string, clearing: number): Members {
    const row = this.#statesOf.get(id)?.find(({ notarization }) => {
      return Number(parsed(notarization).notarizationheight) >= clearing;
    });
    if (!row) throw new Error(`${id} has not launched`);
    return parsed(row.state);
  }

  /** One answer of getcurrencystate. */
  answer(height: number, currencystate: Members): Members {
    return { height, blocktime: this.#times[Math.min(height, tip)], currencystate };
  }

  definition(row: DefinitionRow): Members {
    return {
      ...parsed(row.definition),
      fullyqualifiedname: row.fully_qualified_name,
      currencyidhex: Buffer.from(base58.decode(row.currency_id).subarray(1, 21)).reverse().toString('hex'),
      definitiontxid: row.txid,
      definitiontxout: row.vout,
    };
  }

  getcurrency(row: DefinitionRow, height: number): Members {
    const definition = this.definition(row);
    const reserves = (definition.currencies ?? []) as readonly string[];
    const state = this.stateAt(row, { height, at: height });
    return {
      ...definition,
      ...(reserves.length > 0
        ? { currencynames: Object.fromEntries(reserves.map((id) => [id, this.nameOf(id)])) }
        : {}),
      bestheight: height,
      lastconfirmedheight: height,
      bestcurrencystate: state,
      lastconfirmedcurrencystate: state,
    };
  }
}

/** Canonical text of rows, independent of their order. */
export const inNoOrder = (rows: readonly Members[]): string => canonical(rows.map((row) => canonical(row)).sort());
