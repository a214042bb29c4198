/** getcurrency, getcurrencystate and listcurrencies. */
import { base58 } from '@scure/base';
import { parseExact } from '../../schemas/exact-json.ts';
import { recordedText, truth } from '../api/truth.ts';
import { canonical, type Members, parsed } from './canonical.ts';
import type { Comparison, Ours } from './comparison.ts';
import { answersOf, tip } from './recorded-answers.ts';

interface DefinitionRow {
  readonly currency_id: string;
  readonly name: string;
  readonly fully_qualified_name: string;
  readonly from_height: number;
  readonly txid: string;
  readonly vout: number;
  readonly definition: string;
}

interface StateRow {
  readonly currency_id: string;
  readonly from_height: number;
  readonly to_height: number | null;
  readonly txid: string;
  readonly vout: number;
  readonly state: string;
  readonly notarization: string;
}

const DEFINITIONS_SQL = `SELECT currency_id, name, fully_qualified_name, from_height, txid, vout, definition FROM currencies
  WHERE chain = $1 AND to_height IS NULL`;
const STATES_SQL = `SELECT s.currency_id, s.from_height, s.to_height, s.txid, s.vout, s.state, o.data AS notarization
  FROM currency_states s JOIN outputs o ON o.chain = s.chain AND o.txid = s.txid AND o.n = s.vout
  WHERE s.chain = $1 ORDER BY s.from_height, s.tx_index, s.vout`;

const LAUNCH_COMPLETE = 0x20;

class Directory {
  readonly definitions: readonly DefinitionRow[];
  readonly times: readonly number[];
  readonly #states: ReadonlyMap<string, readonly StateRow[]>;
  /** Heights of definition and launch. */
  readonly #launches = new Map<string, readonly [number, number]>();

  constructor(definitions: readonly DefinitionRow[], states: readonly StateRow[], times: readonly number[]) {
    this.definitions = definitions;
    this.times = times;
    this.#states = Map.groupBy(states, ({ currency_id }) => currency_id);
    for (const [id, own] of this.#states) {
      const launched = own.find(({ state }) => (Number(parsed(state).flags) & LAUNCH_COMPLETE) !== 0);
      this.#launches.set(id, [own[0]?.from_height ?? 0, launched?.from_height ?? 0]);
    }
  }

  static async read({ postgres, chain }: Ours): Promise<Directory> {
    const of = async <T extends object>(sql: string) => (await postgres.pool.query<T>(sql, [chain])).rows;
    const blocks = await of<{ time: bigint }>('SELECT time FROM blocks WHERE chain = $1 ORDER BY height');
    return new Directory(
      await of<DefinitionRow>(DEFINITIONS_SQL),
      await of<StateRow>(STATES_SQL),
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

  /** As of a height; before its first state a currency is shown as it will begin. */
  stateAt(id: string, height: number): StateRow | undefined {
    const states = this.#states.get(id) ?? [];
    const at = states.filter(({ from_height, to_height }) => {
      return from_height <= height && (to_height === null || to_height > height);
    });
    return at.at(-1) ?? states[0];
  }

  /**
   * Between definition and launch the daemon answers with a forecast, made of what its miner holds: the same node answered
   * differently for the same height.
   */
  isForecast(id: string, height: number): boolean {
    const [defined, launched] = this.#launches.get(id) ?? [0, 0];
    return height > defined && height < launched;
  }

  /** Height 0 asks for the newest. */
  getcurrencystate(id: string, height: number): Members {
    const state = this.stateAt(id, height || tip)?.state ?? 'null';
    return { height, blocktime: this.times[Math.min(height, tip)], currencystate: parsed(state) };
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
    const state = parsed(this.stateAt(row.currency_id, height)?.state ?? 'null');
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

/** A hash of the serialised definition. */
const MAGIC = new Set(['magicnumber']);

const getcurrency: Comparison = {
  method: 'getcurrency',
  async *answers(ours) {
    const directory = await Directory.read(ours);
    const { currencies } = truth('supply.json') as { currencies: Record<string, Members> };
    const special = truth('special.json.gz') as Record<string, Members>;
    const seen = [special.getcurrency_prelaunch, special.prelaunch_ba, ...Object.values(special.launch ?? {})];
    const told = [
      ...answersOf('getcurrency').map(({ result }) => ({ height: tip, result })),
      ...Object.values(currencies).map((result) => ({ height: tip, result })),
      ...seen.flatMap((stage) => {
        const { height, ...shown } = stage as Members;
        const answers = Object.values(shown).filter((value) => (value as Members | null)?.currencyid !== undefined);
        return answers.map((result) => ({ height: Number(height), result }));
      }),
    ];
    for (const { height, result } of told) {
      const row = directory.named((result as Members).currencyid);
      // The chain's own currency is defined by no block of it.
      if (!row || directory.isForecast(row.currency_id, height)) continue;
      const own = directory.getcurrency(row, height);
      yield { asked: `${row.name} ${height}`, expected: canonical(result, MAGIC), ours: canonical(own, MAGIC) };
    }
  },
};

/** Heights of "n", "m,n" and "m,n,step"; null for other forms. */
function heightsOf(param: unknown): number[] | null {
  const numbers = /^(\d+)(?:,(\d+)(?:,(\d+))?)?$/.exec(String(param ?? tip))?.slice(1);
  if (!numbers) return null;
  const [start = 0, end = start, step = 1] = numbers.map((text) => (text === undefined ? undefined : Number(text)));
  if (step < 1 || end < start) return null;
  return Array.from({ length: Math.floor((end - start) / step) + 1 }, (_, index) => start + index * step);
}

const states: Comparison = {
  method: 'getcurrencystate',
  async *answers(ours) {
    const directory = await Directory.read(ours);
    for (const line of recordedText('series/currencystate.jsonl.gz').trim().split('\n')) {
      const { currency, height, result } = parseExact(line) as Members;
      const row = directory.named(currency);
      if (row && directory.isForecast(row.currency_id, Number(height))) continue;
      const own = row ? [directory.getcurrencystate(row.currency_id, Number(height))] : [];
      yield { asked: `${currency} ${height}`, expected: canonical(result), ours: canonical(own) };
    }
    for (const { name, params, result } of answersOf('getcurrencystate')) {
      const row = directory.named(params[0]);
      const heights = heightsOf(params[1]);
      if (!row || !heights || params.length > 2) continue;
      if (heights.some((height) => directory.isForecast(row.currency_id, height))) continue;
      const own = heights.map((height) => directory.getcurrencystate(row.currency_id, height));
      yield { asked: name, expected: canonical(result), ours: canonical(own) };
    }
  },
};

/** Null for a filter that this table does not know: the daemon ranks converters, and by launch states it lists none. */
function listed(directory: Directory, [filter = {}, from = 0, to = tip]: readonly unknown[]): DefinitionRow[] | null {
  const { systemtype, fromsystem, ...more } = filter as Members;
  if (Object.keys(more).length > 0) return null;
  if (systemtype !== undefined && systemtype !== 'local') return [];
  if (fromsystem !== undefined && fromsystem !== 'VRSCTEST') return null;
  return directory.definitions.filter(({ from_height: at }) => at >= Number(from) && at <= Number(to));
}

const list: Comparison = {
  method: 'listcurrencies',
  async *answers(ours) {
    const directory = await Directory.read(ours);
    const inOrder = (rows: readonly Members[]) => canonical(rows.map((row) => canonical(row)).sort());
    for (const { name, params, result } of answersOf('listcurrencies')) {
      const rows = listed(directory, params);
      if (!rows) continue;
      const own = rows.map((row) => {
        const state = directory.stateAt(row.currency_id, tip);
        return {
          currencydefinition: directory.definition(row),
          bestheight: parsed(state?.notarization ?? '{}').notarizationheight,
          besttxid: state?.txid,
          besttxout: state?.vout,
          bestcurrencystate: parsed(state?.state ?? 'null'),
        };
      });
      yield { asked: name, expected: inOrder(result as readonly Members[]), ours: inOrder(own) };
    }
  },
};

export const currencyComparisons: readonly Comparison[] = [getcurrency, states, list];
