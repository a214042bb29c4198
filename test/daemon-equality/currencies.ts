/** getcurrency and getcurrencystate. */
import { parseExact } from '../../domain/json/exact-json.ts';
import { NATIVE } from '../api/running-service.ts';
import { recordedText, truth } from '../api/truth.ts';
import { canonical, coins, type Members, parsed } from './canonical.ts';
import type { EqualityComparison } from './comparison.ts';
import { ConversionData, type ImportRow, readImports } from './conversion-data.ts';
import { type DefinitionRow, RecordedCurrencies } from './currency-directory.ts';
import { answersOf, tip } from './recorded-answers.ts';

/** Not compared: magicnumber is a hash of the serialised definition. */
const MAGIC = new Set(['magicnumber']);
/** The recorded run queried this currency before its launch, and the daemon cached those answers. */
const WATCHED = 'PureTri';

const getcurrency: EqualityComparison = {
  method: 'getcurrency',
  async *answers(ours) {
    const directory = await RecordedCurrencies.read(ours);
    const { currencies } = truth('supply.json') as { currencies: Record<string, Members> };
    const special = truth('special.json.gz') as Record<string, Members>;
    const seen = [special.getcurrency_prelaunch, special.prelaunch_ba, ...Object.values(special.launch ?? {})];
    const recorded = [
      ...answersOf('getcurrency').map(({ result }) => ({ height: tip, result })),
      ...Object.values(currencies).map((result) => ({ height: tip, result })),
      ...seen.flatMap((stage) => {
        const { height, ...shown } = stage as Members;
        const answers = Object.values(shown).filter((value) => (value as Members | null)?.currencyid !== undefined);
        return answers.map((result) => ({ height: Number(height), result }));
      }),
    ];
    for (const { height, result } of recorded) {
      const row = directory.named((result as Members).currencyid);
      // No block of the chain defines the chain's own currency.
      if (!row) continue;
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

/** With volumes, the last height is the end of the range, whatever the step, and each height shows the last import before it. */
function volumeAnswers(directory: RecordedCurrencies, imports: readonly ImportRow[], params: readonly unknown[]) {
  const row = directory.named(params[0]);
  const heights = heightsOf(params[1]);
  const end = Number(String(params[1]).split(',')[1]);
  if (!row || !heights) throw new Error(`not a comparable query: ${params.join()}`);
  if (heights.at(-1) !== end) heights.push(end);
  const own = imports.filter(({ currency_id }) => currency_id === row.currency_id);
  const volumeCurrency = directory.named(params[2])?.currency_id ?? NATIVE;
  const data = new ConversionData(volumeCurrency, NATIVE, (id) => directory.nameOf(id));
  const rows: Members[] = answers(directory, row, heights).map((answer, index) => {
    const from = index === 0 ? heights[0] : (heights[index - 1] ?? 0) + 1;
    const until = heights[index] ?? 0;
    const executed = own.filter(({ height }) => height >= Number(from) && height < until);
    const last = executed.at(-1);
    const conversiondata = data.of(executed) ?? undefined;
    return { ...answer, ...(last && { currencystate: parsed(last.state) }), conversiondata };
  });
  return data.total === 0n ? rows : [...rows, { totalvolume: coins(data.total) }];
}

/** All heights but the last show the notarised state. Height 0 means the newest. */
function answers(directory: RecordedCurrencies, row: DefinitionRow, heights: readonly number[]): Members[] {
  return heights.map((height, index) => {
    const isLast = index === heights.length - 1;
    const asked = height || tip;
    const at = row.name === WATCHED ? asked : tip;
    const state = isLast
      ? directory.stateAt(row, { height: asked, at })
      : parsed(directory.notarisedAt(row.currency_id, asked)?.state ?? 'null');
    return directory.answer(height, state);
  });
}

const states: EqualityComparison = {
  method: 'getcurrencystate',
  unsettled: ['a token with a waiting preconversion', 'a basket that limits preconversions'],
  async *answers(ours) {
    const directory = await RecordedCurrencies.read(ours);
    for (const line of recordedText('series/currencystate.jsonl.gz').trim().split('\n')) {
      const { currency, height, result } = parseExact(line) as Members;
      const row = directory.named(currency);
      const own = row ? answers(directory, row, [Number(height)]) : [];
      yield { asked: `${currency} ${height}`, expected: canonical(result), ours: canonical(own) };
    }
    const imports = await readImports(ours);
    for (const line of recordedText('series/conversiondata.jsonl.gz').trim().split('\n')) {
      const { params, result } = parseExact(line) as { params: readonly unknown[]; result: unknown };
      const own = volumeAnswers(directory, imports, params);
      yield { asked: params.join(' '), expected: canonical(result), ours: canonical(own) };
    }
    for (const { name, params, result } of answersOf('getcurrencystate')) {
      const row = directory.named(params[0]);
      const heights = heightsOf(params[1]);
      if (!row || !heights || params.length > 2) continue;
      yield { asked: name, expected: canonical(result), ours: canonical(answers(directory, row, heights)) };
    }
  },
};

export const currencyComparisons: readonly EqualityComparison[] = [getcurrency, states];
