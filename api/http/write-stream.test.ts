/** Streams to slow readers over real connections. */
import { App, type TemplatedApp } from 'uWebSockets.js';
import { get, type IncomingHttpHeaders } from 'node:http';
import fc from 'fast-check';
import { afterEach, expect, it } from 'vitest';
import { type ClientLine, narrowLine, wideLine } from '../../test/support/api/http/lines.ts';
import { clientOf } from './answered-client.ts';
import { createBufferedBodies } from './buffered-bodies.ts';
import { NO_LINES } from './header-lines.ts';
import { LEAST_PACE, type LeastPace } from './reader-pace.ts';
import { createUnsentAnswers } from './unsent-answers.ts';
import { writeStream } from './write-stream.ts';

const MEBIBYTE = 2 ** 20;
const CHUNK = Buffer.alloc(4 * MEBIBYTE, 'row\n');
const CHUNKS = 25;
const LENIENT: LeastPace = { bytesPerSecond: 1, overMs: 600_000 };

const HEAD = { status: 200, headers: NO_LINES, body: null };

let line: ClientLine;
afterEach(() => line.close());

interface Streamed {
  /** Resolves once the service has written everything or disconnected the reader. */
  readonly ended: Promise<void>;
  readonly made: () => number;
}

/** Starts an app that answers with these chunks. */
async function stream(
  chunks: readonly Uint8Array[],
  least: LeastPace,
  lineTo: (app: TemplatedApp) => Promise<ClientLine>,
  unsent = createUnsentAnswers(),
): Promise<Streamed> {
  let made = 0;
  async function* flow() {
    for (const chunk of chunks) {
      made += chunk.length;
      yield chunk;
    }
  }
  const { promise: ended, resolve, reject } = Promise.withResolvers<void>();
  const app = App().get('/', (res) => {
    const client = clientOf(res);
    writeStream(res, HEAD, NO_LINES, flow(), client, unsent, { network: '' }, least).then(resolve, reject);
  });
  line = await lineTo(app);
  return { ended, made: () => made };
}

/** Streams to a reader that pauses after every `takes` bytes. Returns the bytes made in total, and the most that were ever made but unread. */
async function streamed(least: LeastPace, takes: number, pauseMs: number) {
  const { ended, made } = await stream(Array(CHUNKS).fill(CHUNK), least, wideLine);
  const socket = line.connect();
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  let [read, most, taken] = [0, 0, 0];
  socket
    .on('error', () => undefined)
    .on('data', (bytes) => {
      read += bytes.length;
      most = Math.max(most, made() - read);
      taken += bytes.length;
      if (taken < takes) return;
      taken = 0;
      socket.pause();
      setTimeout(() => socket.resume(), pauseMs);
    });
  await ended;
  socket.destroy();
  return { made: made(), most };
}

/** Reads the body with an HTTP client that pauses after each part. @throws Error for a body with broken framing or a missing end */
function read(pauseMs: (sinceMs: number) => number): Promise<Buffer> {
  const started = performance.now();
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    const asked = get('http://x/', { createConnection: () => line.connect() }, (answer) => {
      answer.on('data', (part: Buffer) => {
        parts.push(part);
        const pause = pauseMs(performance.now() - started);
        if (pause === 0) return;
        answer.pause();
        setTimeout(() => answer.resume(), pause);
      });
      answer.on('end', () => resolve(Buffer.concat(parts)));
      answer.on('error', reject);
    });
    asked.on('error', reject);
  });
}

/** Rows that all differ. */
function rows(bytes: number): Buffer {
  let text = '';
  for (let row = 0; text.length < bytes; row++) text += `row ${row} of many\n`;
  return Buffer.from(text);
}

it('a slow reader makes the service read only one chunk ahead of the buffers of the system', async () => {
  const { made, most } = await streamed(LENIENT, MEBIBYTE, 10);
  expect(made).toBe(CHUNKS * CHUNK.length);
  expect(most).toBeLessThan(CHUNK.length + 16 * MEBIBYTE);
});

it('a reader that stops is disconnected in the middle of the stream', async () => {
  const { made } = await streamed({ bytesPerSecond: 2 ** 30, overMs: 300 }, MEBIBYTE, 60_000);
  expect(made).toBeLessThan(CHUNKS * CHUNK.length);
});

it.each([0, 1, 5])(
  'a steady reader that fills its line gets every byte, in whole frames: %i ms after each part',
  async (pauseMs) => {
    const chunks = Array.from({ length: 20 }, (_, n) => rows(100_000 + 7_919 * n));
    await stream(chunks, LEAST_PACE, narrowLine);
    const body = await read(() => pauseMs);
    expect(body.equals(Buffer.concat(chunks))).toBe(true);
  },
);

it('a reader on a slow line gets the whole stream, even if it takes longer than uWebSockets.js waits for room', async () => {
  const chunks = [rows(5 * MEBIBYTE), rows(5 * MEBIBYTE)];
  await stream(chunks, LEAST_PACE, wideLine);
  // 32 kB a second, so that a third of the system's buffer takes longer than 10 s.
  const body = await read((sinceMs) => (sinceMs < 15_000 ? 2_000 : 0));
  expect(body.equals(Buffer.concat(chunks))).toBe(true);
});

it('chunks of any lengths arrive unchanged and in order', async () => {
  const lengths = fc.array(fc.oneof(fc.nat(40), fc.nat(40_000)), { minLength: 1, maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(lengths, async (each) => {
      const chunks = each.map((length) => rows(length).subarray(0, length));
      await stream(chunks, LEAST_PACE, narrowLine);
      expect((await read(() => 0)).equals(Buffer.concat(chunks))).toBe(true);
      await line.close();
    }),
    { numRuns: 50, examples: [[[100, 0]], [[0, 0, 1]], [[16, 1, 0]]] },
  );
});

it('unread chunks are counted for their network, and evicted beyond its bound', async () => {
  const counted = createBufferedBodies({ most: 64 * MEBIBYTE, mostOfNetwork: 6 * MEBIBYTE });
  const unsent = createUnsentAnswers({ counted });
  const { ended } = await stream(Array(CHUNKS).fill(CHUNK), LENIENT, wideLine, unsent);
  const sockets = [line.connect(), line.connect()];
  const taken = [0, 0];
  const whole = Promise.withResolvers<void>();
  for (const [n, socket] of sockets.entries()) {
    socket.on('error', () => undefined).pause();
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    socket.on('data', (bytes) => {
      taken[n] = (taken[n] ?? 0) + bytes.length;
      if ((taken[n] ?? 0) > CHUNKS * CHUNK.length) whole.resolve();
    });
    socket.pause();
  }
  await ended;
  for (const socket of sockets) socket.resume();
  await whole.promise;
  expect(Math.min(...taken)).toBeLessThan(CHUNKS * CHUNK.length);
  for (const socket of sockets) socket.destroy();
});

it.each([
  [1, 'close'],
  [Number.POSITIVE_INFINITY, undefined],
])(
  'a stream without rows is an answer without a body; one in %s is the last of its connection',
  async (withoutBody, last) => {
    await stream([Buffer.alloc(0)], LEAST_PACE, wideLine, createUnsentAnswers({ withoutBody }));
    const headers = await new Promise<IncomingHttpHeaders>((resolve, reject) => {
      const asked = get('http://x/', { createConnection: () => line.connect(), headers: { connection: 'keep-alive' } });
      asked.on('response', (answer) => answer.resume().on('end', () => resolve(answer.headers))).on('error', reject);
    });
    expect([headers['content-length'], headers['transfer-encoding'], headers.connection]).toEqual([
      '0',
      undefined,
      last,
    ]);
  },
);
