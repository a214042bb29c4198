import pg from 'pg';
import { pino } from 'pino';
import { expect, it } from 'vitest';
import { LOG_OPTIONS } from './logger.ts';
import { PostgresTrouble } from './postgres/postgres-errors.ts';

function logged(err: unknown): string {
  const lines: string[] = [];
  pino(LOG_OPTIONS, { write: (line: string) => void lines.push(line) }).warn({ err }, 'it failed');
  return lines.join('');
}

it('logs the plain members of an error and its causes', () => {
  const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED', syscall: 'connect' });
  const { err } = JSON.parse(
    logged(
      new PostgresTrouble('postgres_unreachable', 'no Postgres', { cause: new AggregateError([refused], 'none') }),
    ),
  );
  expect(err).toMatchObject({
    type: 'PostgresTrouble',
    code: 'postgres_unreachable',
    message: 'no Postgres',
    stack: expect.stringContaining('error-for-log.test.ts'),
    cause: { type: 'AggregateError', errors: [{ code: 'ECONNREFUSED', syscall: 'connect' }] },
  });
});

it('omits objects attached to an error: the client of a lost connection, its password and secret key', () => {
  const client = new pg.Client({ connectionString: 'postgresql://me:hush@127.0.0.1:1/x' });
  const error = Object.assign(new Error('Connection terminated'), {
    client: Object.assign(client, { secretKey: 4711 }),
  });
  const line = logged(Object.assign(new Error('outer', { cause: error }), { config: { password: 'hush' } }));
  expect(line).not.toMatch(/secretKey|4711|hush|connectionParameters/);
  expect(line.length).toBeLessThan(4000);
});

it('omits an address that is not a URL, although the error contains the whole address', () => {
  const parse = () => new URL('postgres://me:ab/hush@db/x');
  expect(parse).toThrow(expect.objectContaining({ input: expect.stringContaining('hush') }));
  try {
    parse();
  } catch (cause) {
    expect(logged(new Error('malformed', { cause }))).not.toContain('hush');
  }
});

it('is bounded for cyclic causes, many errors and long texts, and accepts values that are not errors', () => {
  const ring = new Error('x'.repeat(100_000));
  ring.cause = new AggregateError(Array(1000).fill(ring), 'all', { cause: ring });
  expect(logged(new Error('begin', { cause: ring })).length).toBeLessThan(500_000);
  expect(JSON.parse(logged('only a text')).err).toEqual({ type: 'string', message: 'only a text' });
});
