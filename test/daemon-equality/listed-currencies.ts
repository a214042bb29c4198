/** listcurrencies, with the index keys by which the daemon finds notarizations. */
import { LosslessNumber } from 'lossless-json';
import { coinsToSatoshis, type ExactNumber } from '../../domain/satoshi.ts';
import { NATIVE } from '../laws/replay.ts';
import { type Members, parsed } from './canonical.ts';
import type { EqualityComparison } from './comparison.ts';
import { type CurrencyStateRow, type DefinitionRow, inNoOrder, RecordedCurrencies } from './currency-directory.ts';
import { answersOf, tip } from './recorded-answers.ts';

const FRACTIONAL = 1;
const LAUNCH_CLEAR = 8;
const LAUNCH_CONFIRMED = 0x10;
/** A converter has more than this many satoshis of the native coin in reserve, and more than this weight for it (10^8 = 100 %). */
const CONVERTER_RESERVE = 1000n;
const CONVERTER_WEIGHT = 10_000_000n;

type Test = (row: CurrencyStateRow) => boolean;

const flagsOf = ({ state }: CurrencyStateRow): number => Number(parsed(state).flags);

/** Tests for a prelaunch notarization that clears the launch. */
const clears =
  (refunding: boolean): Test =>
  (row) => {
    const { prelaunch, refunding: refunds } = parsed(row.notarization);
    return prelaunch === true && (flagsOf(row) & LAUNCH_CLEAR) !== 0 && (refunds === true) === refunding;
  };

const LAUNCH_STATES: Readonly<Record<string, Test>> = {
  prelaunch: ({ notarization }) => parsed(notarization).prelaunch === true,
  launched: clears(false),
  refund: clears(true),
  // The daemon stores these under the currency but looks them up under the chain, so it never finds any.
  complete: () => false,
};

interface Reserve {
  readonly currencyid: string;
  readonly weight: ExactNumber;
  readonly reserves: ExactNumber;
}

function converts(id: string | undefined): Test {
  return (row) => {
    const required = FRACTIONAL | LAUNCH_CONFIRMED;
    if ((flagsOf(row) & required) !== required) return false;
    const reserves = parsed(row.state).reservecurrencies as readonly Reserve[];
    const native = reserves.find(({ currencyid }) => currencyid === NATIVE);
    return (
      native !== undefined &&
      coinsToSatoshis(native.weight) > CONVERTER_WEIGHT &&
      coinsToSatoshis(native.reserves) > CONVERTER_RESERVE &&
      reserves.some(({ currencyid }) => currencyid === id)
    );
  };
}

interface Range {
  readonly from: number;
  readonly to: number;
}

/** A range applies only if it has an end. */
const within = ({ from, to }: Range, height: number): boolean => to <= 0 || (height >= from && height <= to);

/** Currencies with a notarization that passes: the newest one, or with a range any notarization in the range. */
function notarised(directory: RecordedCurrencies, passes: Test, range: Range): Set<string> {
  const ranged = range.from !== 0 || range.to !== 0;
  const rows = directory.states.filter((row) => (ranged ? within(range, row.from_height) : row.unspent));
  return new Set(rows.filter(passes).map(({ currency_id }) => currency_id));
}

/** Returns undefined for a filter that the stores cannot evaluate. */
function listed(directory: RecordedCurrencies, params: readonly unknown[]): readonly DefinitionRow[] | undefined {
  const { systemtype, fromsystem, launchstate, converter, ...more } = (params[0] ?? {}) as Members;
  if (Object.keys(more).length > 0) return undefined;
  if (fromsystem !== undefined && fromsystem !== 'VRSCTEST') return undefined;
  if (systemtype !== undefined && systemtype !== 'local') return [];
  const range = { from: wholeNumber(params[1]), to: wholeNumber(params[2]) };
  let found = directory.definitions;
  // The range applies to definitions, unless the filter is by launch state or converter.
  const isLocal = systemtype !== undefined || fromsystem !== undefined;
  if (isLocal || (launchstate === undefined && converter === undefined)) {
    found = found.filter(({ from_height }) => within(range, from_height));
  }
  if (launchstate !== undefined) {
    const passes = LAUNCH_STATES[String(launchstate)];
    if (!passes) return undefined;
    const ids = notarised(directory, passes, range);
    found = found.filter(({ currency_id }) => ids.has(currency_id));
  }
  for (const name of (converter ?? []) as readonly unknown[]) {
    const id = String(name) === 'VRSCTEST' ? NATIVE : directory.named(name)?.currency_id;
    const ids = notarised(directory, converts(id), range);
    found = found.filter(({ currency_id }) => ids.has(currency_id));
  }
  return found;
}

/** The daemon reads what is not a number as 0. */
function wholeNumber(param: unknown): number {
  return typeof param === 'number' || param instanceof LosslessNumber ? Math.trunc(Number(param)) : 0;
}

function shown(directory: RecordedCurrencies, row: DefinitionRow): Members {
  const best = directory.notarisedAt(row.currency_id, tip);
  return {
    currencydefinition: directory.definition(row),
    bestheight: parsed(best?.notarization ?? '{}').notarizationheight,
    besttxid: best?.txid,
    besttxout: best?.vout,
    bestcurrencystate: parsed(best?.state ?? 'null'),
  };
}

const list: EqualityComparison = {
  method: 'listcurrencies',
  unsettled: ['by launch state while the launch of a currency is pending'],
  async *answers(ours) {
    const directory = await RecordedCurrencies.read(ours);
    for (const { name, params, result } of answersOf('listcurrencies', { broken: true })) {
      const rows = listed(directory, params);
      if (!rows) throw new Error(`${name} has a filter that is not compared`);
      const own = rows.map((row) => shown(directory, row));
      yield { asked: name, expected: inNoOrder(result as readonly Members[]), ours: inNoOrder(own) };
    }
  },
};

export const listComparisons: readonly EqualityComparison[] = [list];
