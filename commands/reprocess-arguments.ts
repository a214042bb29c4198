/** What `reprocess` can be asked for, read from its arguments. */
import { parseArgs } from 'node:util';
import { RANGE_REGIMES, type RangeRegime } from '../domain/stamps.ts';
import type { RegimeRange } from '../processors/pricing/regime-plan.ts';
import { PermanentError } from '../schemas/errors.ts';

export const REPROCESS_USAGE = [
  'reprocess                              list the generations',
  'reprocess --regime NAME [--from TIME] [--to TIME] [--chains NAME,…] [--dry-run]',
  '    stamp again by a regime (live, backfill, or cutover: as configured) what was converted from a time to before another',
  '    (a UTC day, a moment as 2026-04-24T12:00:00Z, or seconds since the epoch); without --to what is to come as well.',
  '    What is served stays as it is. Stopped, the same command goes on; it ends with the comparison.',
  '    --dry-run stops at the comparison; the same without it goes on from there.',
  'reprocess --swap                       serve the newer generation',
  'reprocess --swap-back                  serve the older one again',
  'reprocess --drop GENERATION            remove the one that is not served',
].join('\n');

export type ReprocessAsked =
  | { readonly action: 'list' }
  | { readonly action: 'make'; readonly range: RegimeRange; readonly description: string; readonly dryRun: boolean }
  | { readonly action: 'swap'; readonly to: 'newer' | 'older' }
  | { readonly action: 'drop'; readonly generation: number };

const OPTIONS = {
  regime: { type: 'string' },
  from: { type: 'string' },
  to: { type: 'string' },
  chains: { type: 'string' },
  'dry-run': { type: 'boolean' },
  swap: { type: 'boolean' },
  'swap-back': { type: 'boolean' },
  drop: { type: 'string' },
} as const;

/** What only --regime goes with. */
const OF_REGIME = ['from', 'to', 'chains', 'dry-run'];

/** @throws PermanentError usage, with what is allowed */
export function reprocessAsked(args: readonly string[], chains: readonly string[]): ReprocessAsked {
  if (args.length === 0) return { action: 'list' };
  const values = parsed(args);
  const asked = Object.keys(values).filter((name) => !OF_REGIME.includes(name));
  if (asked.length !== 1 || (asked[0] !== 'regime' && Object.keys(values).length > 1)) {
    throw usage('Ask for one of --regime, --swap, --swap-back and --drop.');
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
    throw usage(`--from ${values.from} is not before --to ${values.to}, which is no longer part of the range.`);
  }
  return { action: 'make', range, description: describe(range), dryRun: values['dry-run'] ?? false };
}

function usage(problem: string): PermanentError {
  return new PermanentError('usage', `${problem}\nUsage:\n${REPROCESS_USAGE}`);
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS, strict: true, allowPositionals: false }).values;
  } catch (error) {
    throw usage(error instanceof Error ? error.message : String(error));
  }
}

function regimeOf(name: string): RangeRegime {
  const regime = RANGE_REGIMES.find((known) => known === name);
  if (!regime) throw usage(`There is no regime "${name}"; there are ${RANGE_REGIMES.join(', ')}.`);
  return regime;
}

const TIME = /^(\d{1,12}|\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d)?Z)?)$/;

function timeOf(option: string, text: string | undefined): number | null {
  if (text === undefined) return null;
  const seconds = /^\d+$/.test(text) ? Number(text) : Date.parse(text) / 1000;
  if (!TIME.test(text) || Number.isNaN(seconds)) {
    throw usage(
      `${option} takes a UTC day, a moment as 2026-04-24T12:00:00Z or seconds since the epoch, not "${text}".`,
    );
  }
  return seconds;
}

/** Sorted, and null for all of them: the same chains are the same range. */
function chainsOf(text: string | undefined, known: readonly string[]): readonly string[] | null {
  if (text === undefined) return null;
  const names = [...new Set(text.split(','))].sort();
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length > 0) throw usage(`There is no chain "${unknown.join('", "')}"; there are ${known.join(', ')}.`);
  return names.length === known.length ? null : names;
}

function generationOf(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw usage(`--drop takes the number of a generation, not "${text}".`);
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
