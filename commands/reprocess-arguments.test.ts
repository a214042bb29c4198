/** The options that `reprocess` accepts, and its errors for all others. */
import { describe, expect, it } from 'vitest';
import type { InputOf } from './command-table.ts';
import { parseCommand } from './parse-command.ts';
import { parseReprocessRequest } from './reprocess-arguments.ts';

const CHAINS = ['vrsc', 'varrr'];
const asked = (...args: string[]) =>
  parseReprocessRequest(parseCommand(['reprocess', ...args]).input as InputOf<'reprocess'>, CHAINS);

it('accepts a regime with a range, and no options for the list', () => {
  expect(asked()).toEqual({ action: 'list' });
  expect(asked('--regime', 'live')).toMatchObject({ range: { regime: 'live', from: null, to: null, chains: null } });
  expect(
    asked('--regime=backfill', '--from=2026-01-01', '--to', '2026-02-01T12:00:00Z', '--chains=vrsc', '--dry-run'),
  ).toEqual({
    action: 'make',
    range: { regime: 'backfill', from: 1767225600, to: 1769947200, chains: ['vrsc'] },
    description: 'backfill from 2026-01-01T00:00:00Z to 2026-02-01T12:00:00Z on vrsc',
    dryRun: true,
  });
  expect(asked('--regime', 'cutover', '--chains', 'varrr,vrsc')).toMatchObject({ range: { chains: null } });
});

it('accepts a swap, a swap back and a drop', () => {
  expect(asked('--swap')).toEqual({ action: 'swap', to: 'newer' });
  expect(asked('--swap-back')).toEqual({ action: 'swap', to: 'older' });
  expect(asked('--drop', '2')).toEqual({ action: 'drop', generation: 2 });
});

describe('states what is allowed when given', () => {
  it.each([
    [['--regime', 'dead'], 'there is no regime "dead"; allowed are live, backfill, cutover'],
    [['--regime', 'live', '--chains', 'btc'], 'the chain "btc" is not configured; allowed are vrsc, varrr'],
    [
      ['--regime', 'live', '--from', '2026-02-01', '--to', '2026-01-01'],
      '--from 2026-02-01 is not before --to 2026-01-01',
    ],
    [['--regime', 'live', '--from', 'yesterday'], '--from takes a UTC day'],
    [['--regime', 'live', '--from', '2026-13-01'], '--from takes a UTC day'],
    [['--regime', 'live', '--from', '2026-02-30'], '--from takes a UTC day'],
    [['--swap', '--regime', 'live'], 'give one of --regime'],
    [['--swap', '--swap-back'], 'give one of --regime'],
    [['--swap', '--dry-run'], 'give one of --regime'],
    [['--dry-run'], '--dry-run cannot be given without --regime; give one of --regime'],
    [['--drop', 'all'], '--drop takes the number of a generation'],
    [['--sway'], "Unknown option '--sway'"],
    [['live'], 'unexpected argument "live"'],
  ])('%j', (args, said) => {
    expect(() => asked(...args)).toThrow(
      expect.objectContaining({ code: 'usage', message: expect.stringContaining(said) }),
    );
    expect(() => asked(...args)).toThrow(expect.objectContaining({ message: expect.not.stringContaining('\n') }));
  });
});
