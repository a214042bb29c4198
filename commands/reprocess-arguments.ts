/** Parses the options of `reprocess` into a request. */
import { RANGE_REGIMES, type RangeRegime } from '../domain/stamps.ts';
import { parseUtc } from '../domain/time.ts';
import type { RegimeRange } from '../processors/pricing/regime-plan.ts';
import { UsageError } from '../schemas/errors.ts';
import { namesIn } from './arguments.ts';
import type { InputOf } from './command-table.ts';

export type ReprocessRequest =
  | { readonly action: 'list' }
  | { readonly action: 'make'; readonly range: RegimeRange; readonly description: string; readonly dryRun: boolean }
  | { readonly action: 'swap'; readonly to: 'newer' | 'older' }
  | { readonly action: 'drop'; readonly generation: number };

/** Options that are only valid with --regime. */
const OF_REGIME = ['from', 'to', 'chains', 'dry-run'];

/** @throws UsageError that lists the allowed values */
export function parseReprocessRequest(values: InputOf<'reprocess'>, chains: readonly string[]): ReprocessRequest {
  const given = Object.keys(values);
  if (given.length === 0) return { action: 'list' };
  const asked = given.filter((name) => !OF_REGIME.includes(name));
  if (asked.length !== 1 || (asked[0] !== 'regime' && given.length > 1)) {
    const problem = asked.length === 0 ? 'cannot be given without --regime' : 'do not go together';
    throw new UsageError(
      `--${given.join(' --')} ${problem}; give one of --regime (alone or with --from, --to, --chains, --dry-run), --swap, --swap-back and --drop`,
    );
  }
  if (values.drop !== undefined) return { action: 'drop', generation: generationOf(values.drop) };
  if (values.swap) return { action: 'swap', to: 'newer' };
  if (values['swap-back']) return { action: 'swap', to: 'older' };
  const regime = regimeOf(values.regime ?? '');
  const range = {
    regime,
    from: timeOf('--from', values.from),
    to: timeOf('--to', values.to),
    chains: chainsOf(values.chains, chains),
  };
  if (range.from !== null && range.to !== null && range.from >= range.to) {
    throw new UsageError(`--from ${values.from} is not before --to ${values.to}; the range ends before --to`);
  }
  return { action: 'make', range, description: describe(range), dryRun: values['dry-run'] ?? false };
}

function regimeOf(name: string): RangeRegime {
  const regime = RANGE_REGIMES.find((known) => known === name);
  if (!regime) throw new UsageError(`there is no regime "${name}"; allowed are ${RANGE_REGIMES.join(', ')}`);
  return regime;
}

const TIME = /^(\d{1,12}|\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d)?Z)?)$/;

function timeOf(option: string, text: string | undefined): number | null {
  if (text === undefined) return null;
  const seconds = /^\d+$/.test(text) ? Number(text) : parseUtc(text) / 1000;
  if (!TIME.test(text) || Number.isNaN(seconds)) {
    throw new UsageError(
      `${option} takes a UTC day, a moment such as 2026-04-24T12:00:00Z or seconds since the epoch, not "${text}"`,
    );
  }
  return seconds;
}

/** Returns sorted names, or null for all chains, so that equal sets of chains give equal ranges. */
function chainsOf(text: string | undefined, known: readonly string[]): readonly string[] | null {
  if (text === undefined) return null;
  const names = namesIn(text).sort();
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length > 0)
    throw new UsageError(`the chain "${unknown.join('", "')}" is not configured; allowed are ${known.join(', ')}`);
  return names.length === known.length ? null : names;
}

function generationOf(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new UsageError(`--drop takes the number of a generation, not "${text}"`);
  return Number(text);
}

function describe({ regime, from, to, chains }: RegimeRange): string {
  const time = (seconds: number) => new Date(seconds * 1000).toISOString().replace('.000Z', 'Z');
  const parts = [
    regime,
    ...(from === null ? [] : [`from ${time(from)}`]),
    ...(to === null ? [] : [`to ${time(to)}`]),
    ...(chains === null ? [] : [`on ${chains.join(', ')}`]),
  ];
  return parts.join(' ');
}
