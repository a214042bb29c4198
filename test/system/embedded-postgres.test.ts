/** Kills the embedded Postgres of a running program: it is restarted, work continues, and nothing is lost. */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createRandom } from '../../recordings/player/faults.ts';
import { SEED } from '../setup/seed.ts';
import { runCommand, startProgram, until, untilStatus } from './program.ts';
import { settingsFor, startNode, untilServed } from './recorded-chain.ts';

const KILLS = Number(process.env.POSTGRES_KILLS ?? 3);
const START = 200;
const MOST_BLOCKS = 40;

it(`${KILLS} kills of the embedded Postgres while blocks arrive`, async () => {
  const random = createRandom(SEED);
  const node = await startNode(START);
  const settings = settingsFor(node.url);
  const program = await startProgram(settings).answers();
  await untilServed(program, node);
  const serverOf = () =>
    Number(readFileSync(join(settings.DATA_DIR, 'postgres/postmaster.pid'), 'utf8').split('\n', 1)[0]);
  for (let kill = 1; kill <= KILLS; kill++) {
    const before = serverOf();
    node.advanceTo(node.height + 1 + Math.floor(random() * MOST_BLOCKS));
    process.kill(before, 'SIGKILL');
    await untilServed(program, node);
    expect(serverOf()).not.toBe(before);
  }
  await until('it is ready', async () => (await program.get('/api/health/ready')).status === 200);
  expect(program.complaints()).toContainEqual(expect.objectContaining({ code: 'postgres_unreachable' }));
  expect(program.output()).not.toMatch(/unhandled/i);

  await untilStatus(settings, 0);
  expect(await runCommand(['verify'], settings)).toMatchObject({ code: 0 });
  expect(await runCommand(['audit'], settings)).toMatchObject({ code: 0 });
  expect(await program.kill('SIGTERM')).toMatchObject({ code: 0 });
});

it('a server that does not answer, and one whose socket is removed', { timeout: 180_000 }, async () => {
  const node = await startNode(20);
  const settings = settingsFor(node.url);
  const program = await startProgram(settings).answers();
  await untilServed(program, node);
  const folder = join(settings.DATA_DIR, 'postgres');
  const pidFile = () => readFileSync(join(folder, 'postmaster.pid'), 'utf8');
  const serverOf = () => Number(pidFile().split('\n', 1)[0]);
  const isReady = async () => (await program.get('/api/health/ready')).status === 200;
  const answered = async (path: string, ms: number) => Promise.race([program.get(path), sleep(ms, null)]);
  await until('it is ready', isReady);

  const server = serverOf();
  const children = readFileSync(`/proc/${server}/task/${server}/children`, 'utf8').trim().split(' ').map(Number);
  const halted = [server, ...children];
  const sendSignal = (signal: 'SIGSTOP' | 'SIGCONT') => {
    for (const pid of halted) {
      try {
        process.kill(pid, signal);
      } catch (error) {
        // A child may have ended in the meantime; the other processes must still get the signal.
        expect(error).toMatchObject({ code: 'ESRCH' });
      }
    }
  };
  try {
    sendSignal('SIGSTOP');
    const asked = Array.from({ length: 10 }, (_, n) => answered(`/api/search/?q=silence${n}`, 20_000));
    for (let n = 0; n < 5; n++) expect((await answered('/api/health', 20_000))?.status).toBe(200);
    await until('ready names it', async () => {
      const answer = await answered('/api/health/ready', 5_000);
      return answer?.status === 503 && answer.body.includes('postgres_unreachable');
    });
    for (const answer of await Promise.all(asked)) expect(answer?.status).toBe(503);
  } finally {
    sendSignal('SIGCONT');
  }
  await until('it is ready', isReady);
  expect(serverOf()).toBe(server);

  rmSync(join(folder, '.s.PGSQL.5432'));
  await until(
    'another server runs',
    () => existsSync(join(folder, 'postmaster.pid')) && ![Number.NaN, 0, server].includes(serverOf()),
  );
  await until('it answers', async () => (await program.get('/api/search/?q=afterwards')).status === 200);
  await until('it is ready', isReady);
  expect(await program.kill('SIGTERM')).toMatchObject({ code: 0 });
});

it('a server that is killed while the program starts', { timeout: 180_000 }, async () => {
  const random = createRandom(SEED);
  const node = await startNode(20);
  const settings = settingsFor(node.url);
  for (let start = 0; start < 2; start++) {
    const program = startProgram(settings);
    const file = join(settings.DATA_DIR, 'postgres/postmaster.pid');
    await until('a server starts', () => existsSync(file) && Number(readFileSync(file, 'utf8').split('\n', 1)[0]) > 0);
    await sleep(random() * 600);
    process.kill(Number(readFileSync(file, 'utf8').split('\n', 1)[0]), 'SIGKILL');
    await program.answers();
    await untilServed(program, node);
    expect(await program.kill('SIGTERM')).toMatchObject({ code: 0 });
  }
});
