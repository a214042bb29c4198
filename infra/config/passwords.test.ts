/** No error of reading the configuration and no output of a start shows a password, whatever it is. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import fc from 'fast-check';
import { pino } from 'pino';
import { expect, it } from 'vitest';
import { connectClickHouse } from '../clickhouse/server.ts';
import { errorForLog } from '../error-for-log.ts';
import { inspectPostgres } from '../postgres/inspect-postgres.ts';
import { connectPostgres } from '../postgres/postgres.ts';
import { loadConfig, printableConfig } from './load-config.ts';

const HELD = 'TopSecret';
const pieces = fc.string({ unit: fc.constantFrom(...'/?#@:%[], \\"&=19aZ'), maxLength: 5 });
const passwords = fc.tuple(pieces, pieces).map((around) => around.join(HELD));
const logger = pino({ level: 'silent' });

type Opening = (url: string) => Promise<unknown>;
/** Connections to addresses without a server. */
const POSTGRES: readonly Opening[] = [(url) => connectPostgres({ url, logger }), (url) => inspectPostgres(url, logger)];
const CLICKHOUSE: readonly Opening[] = [(url) => connectClickHouse(url, logger)];

/** The error as Node.js prints it if uncaught, and as the log shows it. */
const printed = (error: unknown) => `${inspect(error)} ${JSON.stringify(errorForLog(error))}`;

it.each([
  ['DATABASE_URL', 'postgres', '/stores', POSTGRES],
  ['CLICKHOUSE_URL', 'http', '/stores', CLICKHOUSE],
  ['PRICE_FEED_URL', 'https', '/prices', []],
  ['VERUSD_VRSC', 'http', '', []],
] as const)('a password in %s appears in no text', async (variable, scheme, path, openings) => {
  const outcomes = { refused: 0, taken: 0 };
  const law = async (password: string) => {
    const address = `${scheme}://me:${password}@127.0.0.1:9${path}`;
    try {
      const config = loadConfig({ [variable]: address });
      outcomes.taken++;
      expect(printableConfig(config)).not.toContain(HELD);
      for (const open of openings) {
        const error = await open(address).catch((caught: unknown) => caught);
        expect(error).toMatchObject({ code: expect.stringMatching(/^(postgres|clickhouse)_(unreachable|refused)$/) });
        expect(printed(error)).not.toContain(HELD);
      }
    } catch (error) {
      if ((error as { code?: unknown }).code !== 'config_invalid') throw error;
      outcomes.refused++;
      expect(printed(error)).not.toContain(HELD);
      expect(printed(error)).toContain(variable);
    }
  };
  const examples = ['ab/', '12/', '12?', '#', 'a,b,', '%', '%ff', '[', '@/'].map((before): [string] => [before + HELD]);
  await fc.assert(fc.asyncProperty(passwords, law), { examples });
  expect(outcomes.refused).toBeGreaterThan(0);
  expect(outcomes.taken).toBeGreaterThan(0);
});

it('an address of several servers is refused with advice', () => {
  const load = () => loadConfig({ DATABASE_URL: `postgres://me:${HELD}@one:5432,two:5432/stores` });
  expect(load).toThrow(/DATABASE_URL is not the address of one server: .*percent-encode/);
});

it('a syntax error in the file shows no password next to it', () => {
  const path = join(mkdtempSync(join(tmpdir(), 'verustream-config-')), 'config.json');
  const chains = JSON.stringify({ chains: [{ name: 'vrsc', rpc: `http://me:${HELD}@127.0.0.1:9` }] });
  const [start, length] = [chains.indexOf(HELD), chains.length];
  const outcomes = { refused: 0, taken: 0 };
  const edit = fc.record({ at: fc.nat(length), drop: fc.nat(3), put: fc.string({ maxLength: 2 }) });
  const keepsPassword = ({ at, drop }: { at: number; drop: number }) => at >= start + HELD.length || at + drop <= start;
  fc.assert(
    fc.property(edit.filter(keepsPassword), ({ at, drop, put }) => {
      writeFileSync(path, chains.slice(0, at) + put + chains.slice(at + drop));
      try {
        loadConfig({ VERUSTREAM_CONFIG: path });
        outcomes.taken++;
      } catch (error) {
        outcomes.refused++;
        expect(printed(error)).not.toContain(HELD);
      }
    }),
    { examples: [[{ at: start + HELD.length, drop: 0, put: '"' }], [{ at: start, drop: 0, put: '"' }]] },
  );
  expect(outcomes.refused).toBeGreaterThan(0);
});
