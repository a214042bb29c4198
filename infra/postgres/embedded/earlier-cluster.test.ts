/** Upgrades the kept folder of 0.1.0, whose cluster trusted every user and whose service role was a superuser. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import { afterAll, expect, it } from 'vitest';
import { createRandom } from '../../../recordings/player/faults.ts';
import { ROOT } from '../../../test/house/source-files.ts';
import { SEED } from '../../../test/setup/seed.ts';
import { NODE_FLAGS } from '../../../test/support/infra/node-flags.ts';
import { unpackFolder } from '../../../test/upgrade/folder-archive.ts';
import { connectPostgres } from '../postgres.ts';
import { startEmbeddedPostgres } from './embedded.ts';

const ARCHIVE = join(ROOT, 'test/upgrade/0.1.0');
const OPEN = fileURLToPath(new URL('../../../test/support/infra/postgres/embedded/open-embedded.ts', import.meta.url));
/** The first start is killed after 50 to 100 ms, each following one after a time that grows by this factor, until one completes. */
const GROWTH = Number(process.env.MIGRATION_GROWTH ?? 1.25);
const isHere = process.platform === 'linux' && process.arch === 'x64'; // the platform that wrote the cluster
const work = mkdtempSync(join(tmpdir(), 'verustream-earlier-'));
const random = createRandom(SEED);

afterAll(() => rmSync(work, { recursive: true, force: true }));

async function openUntil(data: string, ms: number): Promise<'killed' | 'ended'> {
  const child = spawn(process.execPath, [...NODE_FLAGS, OPEN, data], { stdio: 'inherit' });
  const exited = once(child, 'exit');
  await Promise.race([exited, sleep(ms)]);
  child.kill('SIGKILL');
  const [code, signal] = await exited;
  if (signal === null) expect(code).toBe(0);
  return signal === null ? 'ended' : 'killed';
}

it.skipIf(!isHere)('loses trust, superuser and capabilities at its first start, wherever that is killed', async () => {
  unpackFolder(join(ARCHIVE, 'data.tar.zst'), work);
  const data = join(work, 'postgres');
  expect(readFileSync(join(data, 'pg_hba.conf'), 'utf8')).toMatch(/^local +all +all +trust$/m);
  let killed = 0;
  for (let after = 50 * (1 + random()); (await openUntil(data, after)) === 'killed'; after *= GROWTH) killed++;
  expect(killed).toBeGreaterThan(2);

  const server = await startEmbeddedPostgres(data, pino({ level: 'silent' }));
  const postgres = await connectPostgres({ url: server.urlOf('verustream'), logger: pino({ level: 'silent' }) });
  try {
    const one = async (sql: string) => (await postgres.pool.query(sql)).rows[0];
    const { height } = JSON.parse(readFileSync(join(ARCHIVE, 'contents.json'), 'utf8')) as { height: number };
    expect(await one('SELECT max(height) AS height FROM blocks')).toEqual({ height });
    expect(await one('SELECT rolsuper FROM pg_roles WHERE rolname = current_user')).toEqual({ rolsuper: false });
    expect(await one(`SELECT string_agg(rolname, ',') AS names FROM pg_roles WHERE rolcanlogin`)).toEqual({
      names: 'postgres,verustream',
    });
    expect(
      await one(
        "SELECT count(*)::int4 AS left FROM pg_tables WHERE schemaname !~ '^pg_|^information_schema' AND tableowner <> current_user",
      ),
    ).toEqual({ left: 0 });
    expect(
      await one('SELECT pg_get_userbyid(datdba) AS owner FROM pg_database WHERE datname = current_database()'),
    ).toEqual({
      owner: 'verustream',
    });
    // Only an owner may drop a schema: the service must also own the functions and types of the queue.
    const { rows } = await postgres.pool.query<{ name: string }>(
      "SELECT nspname AS name FROM pg_namespace WHERE nspowner = (SELECT oid FROM pg_roles WHERE rolname = 'verustream') AND nspname <> 'public'",
    );
    for (const { name } of rows) await postgres.pool.query(`DROP SCHEMA ${name} CASCADE`);
    expect(rows.length).toBeGreaterThan(0);
    expect(readFileSync(join(data, 'pg_hba.conf'), 'utf8')).not.toContain('trust');
    const { uid } = statSync(data);
    for (const name of readdirSync(data, { recursive: true }) as string[]) {
      const found = lstatSync(join(data, name));
      expect({ name, uid: found.uid }).toEqual({ name, uid });
    }
    if (process.getuid?.() === 0) expect(uid).toBeGreaterThanOrEqual(61_184);
  } finally {
    await postgres.close();
    await server.stop();
  }
});
