import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { connectPostgres, type Postgres } from '../postgres.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from './embedded.ts';

const folder = mkdtempSync(join(tmpdir(), 'verustream-postgres-'));
const logger = pino({ level: 'silent' });
let server: EmbeddedPostgres;
let postgres: Postgres;

beforeAll(async () => {
  server = await startEmbeddedPostgres(folder, logger);
  postgres = await connectPostgres({ url: server.url, logger });
});
afterAll(async () => {
  await postgres.close();
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

function processId(): number {
  return Number(readFileSync(join(folder, 'postmaster.pid'), 'utf8').split('\n')[0]);
}

it('is started again when it is killed, with every commit', async () => {
  await postgres.pool.query('CREATE TABLE kept AS SELECT 7 AS n');
  const killed = processId();
  process.kill(killed, 'SIGKILL');
  await expect.poll(processId).not.toBe(killed);
  const kept = () => postgres.pool.query('SELECT n FROM kept').then(({ rows }) => rows);
  await expect.poll(() => kept().catch(String)).toEqual([{ n: 7 }]);
});

it('stays stopped when it is told to', async () => {
  await server.stop();
  await expect(connectPostgres({ url: server.url, logger })).rejects.toMatchObject({ code: 'postgres_unreachable' });
});
