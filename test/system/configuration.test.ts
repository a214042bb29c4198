/** Errors of a wrong setting: one line that names the setting and the allowed values, and exit code 1. */
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type EndedProgram, type ProgramSettings, runCommand, startProgram, until } from './program.ts';
import { settingsFor, startNode, temporaryFolder } from './recorded-chain.ts';

const NOBODY = 'http://user:topsecret@127.0.0.1:1';

/** The single line that the program ends with. */
function lastWord({ code, output }: EndedProgram): string {
  expect(code, output).toBe(1);
  const lines = output.split('\n').filter((line) => line.startsWith('verustream: '));
  expect(lines, output).toHaveLength(1);
  expect(output).not.toMatch(/^\s+at /m); // no stack trace
  return lines[0] ?? '';
}

describe('a wrong value', () => {
  const file = join(temporaryFolder(), 'wrong.json');
  const broken = join(temporaryFolder(), 'broken.json');
  writeFileSync(file, JSON.stringify({ chains: [{ name: 'vrsc', rpc: 'localhost:27486', blockSeconds: 0 }], prot: 1 }));
  writeFileSync(broken, '{"chains": [');

  it.each<[string, ProgramSettings, RegExp[]]>([
    ['a port that is none', { PORT: 'http' }, [/PORT: "http" must be integer/]],
    ['a port out of range', { PORT: '65536' }, [/PORT: 65536 must be <= 65535/]],
    ['a role that is none', { ROLES: 'tail,miner' }, [/ROLES/, /"miner" is not one of tail, derive, price, serve/]],
    [
      'a role alone on embedded stores',
      { ROLES: 'tail' },
      [/ROLES "tail" also needs KAFKA_BROKERS, DATABASE_URL, CLICK/],
    ],
    ['a daemon without a scheme', { VERUSD_VRSC: 'user:topsecret@127.0.0.1:27486' }, [/VERUSD_VRSC/, /https/]],
    ['a broker without a port', { KAFKA_BROKERS: 'kafka' }, [/KAFKA_BROKERS/, /"kafka"/]],
    ['a database of another kind', { DATABASE_URL: 'mysql://root:topsecret@db/x' }, [/DATABASE_URL/, /postgres/]],
    ['a log level that is none', { LOG_LEVEL: 'loud' }, [/LOG_LEVEL: "loud" is not one of trace, debug/]],
    ['several at once', { VERUSTREAM_CONFIG: file }, [/"prot", allowed are chains/, /chains.0.rpc/, /blockSeconds: 0/]],
    ['a file that is cut', { VERUSTREAM_CONFIG: broken }, [/VERUSTREAM_CONFIG .*broken\.json: /]],
    [
      'a file that is not there',
      { VERUSTREAM_CONFIG: '/nowhere.json' },
      [/VERUSTREAM_CONFIG \/nowhere\.json: .*ENOENT/],
    ],
  ])('%s stops the start, named and without secrets', async (_, settings, said) => {
    const word = lastWord(await runCommand(['start'], { DATA_DIR: join(temporaryFolder(), 'data'), ...settings }));
    for (const part of said) expect(word).toMatch(part);
    expect(word).toMatch(/\(config_invalid\)$/);
    expect(word).not.toContain('topsecret');
  });

  it('is refused by `config`, too', async () => {
    expect(lastWord(await runCommand(['config'], { PORT: 'http' }))).toMatch(/PORT: "http" must be integer/);
  });
});

describe('a server that cannot be reached at start', () => {
  it.each<[string, ProgramSettings, RegExp]>([
    [
      'Postgres',
      { DATABASE_URL: 'postgres://u:topsecret@127.0.0.1:1/db' },
      /127\.0\.0\.1:1\/db .*DATABASE_URL.*postgres_unreachable/,
    ],
    [
      'ClickHouse',
      { CLICKHOUSE_URL: 'http://u:topsecret@127.0.0.1:1/db' },
      /CLICKHOUSE_URL.*\(clickhouse_unreachable\)$/,
    ],
    ['Kafka', { KAFKA_BROKERS: '127.0.0.1:1' }, /127\.0\.0\.1:1.*KAFKA_BROKERS.*\(log_unreachable\)$/],
  ])('%s: the start ends with where and which setting', async (_, settings, said) => {
    const word = lastWord(await runCommand(['start'], { ...settingsFor(NOBODY), ...settings }));
    expect(word).toMatch(said);
    expect(word).not.toContain('topsecret');
  });

  it('refuses a port that another program uses', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const address = other.address();
    const port = typeof address === 'object' ? String(address?.port) : '';
    const word = lastWord(await runCommand(['start'], { ...settingsFor(NOBODY), PORT: port }));
    expect(word).toMatch(new RegExp(`127\\.0\\.0\\.1:${port}: .*Set HOST or PORT. \\(port_unavailable\\)$`));
    other.close();
  });
});

describe('an unknown command', () => {
  it('lists the commands, exit code 2', async () => {
    const { code, output } = await runCommand(['stat'], {});
    expect(code).toBe(2);
    expect(output).toMatch(/unknown command "stat".*status.*verify.*audit/);
  });

  it('help exits with 0, even with a wrong configuration', async () => {
    const wrong = { PORT: 'http' };
    expect(await runCommand(['--help'], wrong)).toMatchObject({ code: 0 });
    expect(await runCommand(['verify', '--help'], wrong)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('verify'),
    });
  });
});

describe('secrets', () => {
  it('appear neither in the printed configuration nor in the log', async () => {
    const node = await startNode(20);
    const settings = settingsFor(node.url.replace('secret', 'topsecret'));
    const PRICE_FEED_URL = 'https://feed.example/price?ids=dai&x_api_key=topsecret';
    const DATABASE_URL = 'postgres://u:"topsecret@db.example/x';
    const printed = await runCommand(['config'], { ...settings, PRICE_FEED_URL, DATABASE_URL });
    expect(printed.stdout).toContain('"rpc"');
    const program = await startProgram({ ...settings, LOG_LEVEL: 'trace' }).answers();
    await until('the refusal is logged', async () => program.output().includes('daemon_auth_failed'));
    await program.get('/api/health/ready');
    const { output } = await program.kill('SIGTERM');
    for (const text of [printed.output, output]) {
      expect(text).not.toContain('topsecret');
      expect(text).not.toContain(Buffer.from('user:topsecret').toString('base64'));
    }
  });
});
