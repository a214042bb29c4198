/** Currency states, imports and exports at the released tip. */
import { join } from 'node:path';
import { elementTexts, rawMember } from '../../domain/json/raw-json.ts';
import type { RecordingView } from './chain-view.ts';
import { createCurrencyNames } from './currency-names.ts';
import { type Derivations, integerParam, stringParam } from './derivation.ts';
import { readPairs, replaceMembers } from './members.ts';
import { createTextsByKey } from './packed-texts.ts';
import { readGzip, readLines } from './read-lines.ts';
import type { RecordedCalls } from './recorded-calls.ts';
import type { Recording } from './recording.ts';

/** Returns the only element of getcurrencystate's answer for a currency and a height. */
function createStates({ folder }: Recording): (name: string, height: number) => string | undefined {
  const resultOf = createTextsByKey(function* () {
    for (const line of readLines(join(folder, 'series', 'currencystate.jsonl.gz'))) {
      const parts = new Map(readPairs(line.toString('utf8')));
      const result = parts.get('result') ?? '';
      if (result.startsWith('[')) yield [`${JSON.parse(parts.get('currency') ?? '""')} ${parts.get('height')}`, result];
    }
  });
  return (name, height) => resultOf(`${name} ${height}`)?.slice(1, -1);
}

interface Dated {
  readonly height: number;
  readonly text: string;
}

/** Rows of getimports or getexports over the whole chain, by currency name. */
function createRows({ folder }: Recording, file: string, heightKey: string): (name: string) => readonly Dated[] {
  let rows: Map<string, readonly Dated[]> | undefined;
  function read(): Map<string, readonly Dated[]> {
    const text = readGzip(join(folder, 'series', file));
    const dated = (array: string) =>
      elementTexts(array).map((row) => ({ height: Number(rawMember(row, heightKey)), text: row }));
    return new Map(readPairs(text).map(([key, value]) => [key, value.startsWith('[') ? dated(value) : []]));
  }
  return (name) => {
    rows ??= read();
    return rows.get(name) ?? [];
  };
}

/** Parses "n", "m,n" or "m,n,step" into ascending heights; returns null for any other text. */
function heightsOf(param: string): number[] | null {
  const numbers = /^(\d{1,9})(?:,(\d{1,9})(?:,(\d{1,9}))?)?$/.exec(param)?.slice(1).map(Number);
  if (numbers === undefined) return null;
  const [start = 0, end, step] = numbers;
  const last = end === undefined || Number.isNaN(end) ? start : end;
  const by = step === undefined || Number.isNaN(step) ? 1 : step;
  if (by < 1 || last < start) return null;
  return Array.from({ length: Math.floor((last - start) / by) + 1 }, (_, index) => start + index * by);
}

export function createCurrencyDerivations(recording: Recording, calls: RecordedCalls): Derivations {
  const stateAt = createStates(recording);
  const imports = createRows(recording, 'imports.json.gz', 'importheight');
  const exports = createRows(recording, 'exports.json.gz', 'height');
  const nameOf = createCurrencyNames(recording);

  function currency(param: string | undefined): string | undefined {
    const name = stringParam(param);
    return name === null ? undefined : nameOf(name);
  }

  /** Rows from `start` to `end` (0 means the tip); null where the abandoned branch may have had other rows. */
  function range(view: RecordingView, rows: readonly Dated[], start: string, end: string): string[] | null {
    const [from, to] = [integerParam(start), integerParam(end)];
    if (from === null || to === null || from < 0 || to < 0 || (to > 0 && from > to)) return null;
    const last = to === 0 ? view.height : Math.min(to, view.height);
    if (last > view.sharedHeight) return null;
    return rows.filter(({ height }) => height >= from && height <= last).map((row) => row.text);
  }

  return {
    /** Only for the chain's own coin, whose definition does not change; the state of other currencies is only in the recording. */
    getcurrency(view, [name, ...rest]) {
      const wanted = currency(name);
      const recorded = wanted === undefined ? undefined : calls.find('getcurrency', JSON.stringify([wanted]));
      if (recorded === undefined || !('result' in recorded) || rest.length > 0) return null;
      const isOwn = rawMember(recorded.result, 'systemid') === rawMember(recorded.result, 'currencyid');
      if (!isOwn) return null;
      const height = String(view.height);
      return replaceMembers(recorded.result, { lastconfirmedheight: height, bestheight: height });
    },
    getcurrencystate(view, [name, height = `"${view.height}"`, ...rest]) {
      const wanted = currency(name);
      const heights = heightsOf(stringParam(height) ?? height);
      if (wanted === undefined || heights === null || rest.length > 0) return null;
      const states: string[] = [];
      for (const at of heights) {
        const state = at <= view.sharedHeight ? stateAt(wanted, at) : undefined;
        if (state === undefined) return null;
        states.push(state);
      }
      return `[${states.join(',')}]`;
    },
    getimports(view, [name, start = '0', end = '0', ...rest]) {
      const wanted = currency(name);
      if (wanted === undefined || rest.length > 0) return null;
      const rows = range(view, imports(wanted), start, end);
      if (rows === null) return null;
      return rows.length === 0 ? 'null' : `[${rows.join(',')}]`;
    },
    getexports(view, [name, start = '0', end = '0', ...rest]) {
      const wanted = currency(name);
      if (wanted === undefined || rest.length > 0) return null;
      const rows = range(view, exports(wanted), start, end);
      return rows === null ? null : `[${rows.join(',')}]`;
    },
  };
}
