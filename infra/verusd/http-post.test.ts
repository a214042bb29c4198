/** The time limit applies to the daemon: a process that was stalled still accepts a reply that has arrived. */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { Pool } from 'undici';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { post } from './http-post.ts';

const LIMIT_MS = 1_000;
/** Indexes of the counters of the daemon, which runs in its own thread and answers soon or never. */
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

/** Stalls the whole process. */
function standStill(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

it('accepts a reply that arrived while the process was stalled', async () => {
  await ask('yes', 60_000); // opens the connection
  for (let round = 0; round < 3; round++) {
    const [askedBefore, answeredBefore] = [ASKED, ANSWERED].map((index) => Atomics.load(counts, index));
    const asked = ask('yes');
    while (Atomics.load(counts, ASKED) === askedBefore) await new Promise(setImmediate);
    // Blocks until the reply is in the socket.
    expect(Atomics.wait(counts, ANSWERED, answeredBefore ?? 0, 60_000)).not.toBe('timed-out');
    standStill(1.1 * LIMIT_MS);
    expect((await asked).body.toString()).toBe('said');
  }
});

it('times out without a reply, even if the process was stalled', async () => {
  const asked = ask('no');
  standStill(1.1 * LIMIT_MS);
  await expect(asked).rejects.toMatchObject({ code: 'daemon_timeout' });
});
