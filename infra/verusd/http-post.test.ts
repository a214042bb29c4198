/** A time limit is the daemon's: a process that stood still meanwhile takes the reply that is there. */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { Pool } from 'undici';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { post } from './http-post.ts';

const LIMIT_MS = 1_000;
/** A daemon in a thread of its own answers soon, or never, and counts what it was asked and what it has answered. */
const ASKED = 0;
const ANSWERED = 1;
const DAEMON = `
  const { createServer } = require('node:http');
  const { parentPort, workerData } = require('node:worker_threads');
  const count = (index) => {
    Atomics.add(workerData, index, 1);
    Atomics.notify(workerData, index);
  };
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      count(${ASKED});
      response.on('finish', () => count(${ANSWERED}));
      if (request.headers.answer === 'yes') setTimeout(() => response.end('said'), 50);
    });
  });
  server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));`;

const counts = new Int32Array(new SharedArrayBuffer(8));
let daemon: Worker;
let pool: Pool;
beforeAll(async () => {
  daemon = new Worker(DAEMON, { eval: true, workerData: counts });
  const [port] = await once(daemon, 'message');
  pool = new Pool(`http://127.0.0.1:${port}`);
});
afterAll(async () => {
  await pool?.destroy();
  await daemon?.terminate();
});

const ask = (answer: 'yes' | 'no', timeoutMs = LIMIT_MS) =>
  post(pool, { headers: { answer }, body: '{}', timeoutMs, signal: undefined, maxBytes: 100, what: 'getinfo' });

/** The whole process stands still. */
function standStill(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

it('a reply that came while the process stood still counts', async () => {
  await ask('yes', 60_000); // the connection is made
  for (let round = 0; round < 3; round++) {
    const [askedBefore, answeredBefore] = [ASKED, ANSWERED].map((index) => Atomics.load(counts, index));
    const asked = ask('yes');
    while (Atomics.load(counts, ASKED) === askedBefore) await new Promise(setImmediate);
    // Stands still until the reply is in the socket.
    expect(Atomics.wait(counts, ANSWERED, answeredBefore ?? 0, 60_000)).not.toBe('timed-out');
    standStill(1.1 * LIMIT_MS);
    expect((await asked).body.toString()).toBe('said');
  }
});

it('no reply does not', async () => {
  const asked = ask('no');
  standStill(1.1 * LIMIT_MS);
  await expect(asked).rejects.toMatchObject({ code: 'daemon_timeout' });
});
