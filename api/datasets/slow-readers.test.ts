/** Readers that are too slow are disconnected; readers that the service itself slows down are not. */
import { App, type TemplatedApp } from 'uWebSockets.js';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ClientLine, narrowLine, wideLine } from '../../test/support/api/http/lines.ts';
import { clientOf } from '../http/answered-client.ts';
import { NO_LINES } from '../http/header-lines.ts';
import type { LeastPace } from '../http/reader-pace.ts';
import { createUnsentAnswers } from '../http/unsent-answers.ts';
import { objectReply, sendObject } from './send-object.ts';
import type { ServedObject } from './served-folder.ts';

const SIZE = 2 ** 25;
/** No reader of these tests reaches STRICT; only a reader that stops misses LENIENT. */
const STRICT: LeastPace = { bytesPerSecond: 50_000_000, overMs: 300 };
const LENIENT: LeastPace = { bytesPerSecond: 1_000, overMs: 30_000 };
let folder: string;
let file: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'verustream-pace-'));
  file = join(folder, 'file');
  await writeFile(file, Buffer.alloc(SIZE));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const atOnce = async () => undefined;

/** Sends a file to a reader that pauses after every `takes` bytes. Returns the bytes sent, or SIZE + 1 when that takes too long. */
async function sentTo(
  takes: number,
  pauseMs: number,
  least: LeastPace,
  letGo: () => Promise<void> = atOnce,
  content: ServedObject['content'] = { file },
  lineTo: (app: TemplatedApp) => Promise<ClientLine> = wideLine,
  withinMs = 120_000,
): Promise<number> {
  const app = App();
  const outcome = Promise.withResolvers<number>();
  app.get('/', (res, req) => {
    const client = clientOf(res);
    const object = { tag: 't', size: SIZE, changedAt: new Date(0), type: 'a/b', content };
    const asked = { isHead: false, range: req.getHeader('range'), ifRange: '', ifNoneMatch: '' };
    const reply = objectReply(object, asked);
    const pace = { letGo, least };
    sendObject(res, object, reply, false, client, NO_LINES, pace, createUnsentAnswers({ least }), { network: '' }).then(
      outcome.resolve,
      outcome.reject,
    );
  });
  const line = await lineTo(app);
  const socket = line.connect();
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  let taken = 0;
  socket
    .on('error', () => undefined)
    .on('data', (bytes) => {
      taken += bytes.length;
      if (taken < takes) return;
      taken = 0;
      socket.pause();
      setTimeout(() => socket.resume(), pauseMs);
    });
  try {
    return await Promise.race([outcome.promise, sleep(withinMs, SIZE + 1)]);
  } finally {
    socket.destroy();
    await line.close();
  }
}

it.each([
  ['stops', 1, 60_000],
  ['takes little, again and again', 1_000, 50],
  ['takes more, after long pauses', 200_000, 400],
])('a reader that %s is disconnected', async (_name, takes, pauseMs) => {
  const sent = await sentTo(takes, pauseMs, STRICT);
  expect(sent).toBeGreaterThan(0);
  expect(sent).toBeLessThan(SIZE);
});

it('a reader that never pauses gets the whole file', async () => {
  expect(await sentTo(Number.POSITIVE_INFINITY, 0, LENIENT)).toBe(SIZE);
});

it('a reader that the service slows down for longer than its own limit gets the whole file', async () => {
  const chunks = SIZE / 2 ** 17;
  const least = { ...LENIENT, overMs: 5_000 };
  const letGo = async () => void (await sleep((1.4 * least.overMs) / chunks));
  expect(await sentTo(Number.POSITIVE_INFINITY, 0, least, letGo)).toBe(SIZE);
});

it('a manifest is sent like a file: as fast as it is read, and not to a reader that stops', async () => {
  const content = { make: () => Buffer.alloc(SIZE) };
  expect(await sentTo(1, 60_000, STRICT, atOnce, content)).toBeLessThan(SIZE);
  expect(await sentTo(Number.POSITIVE_INFINITY, 0, LENIENT, atOnce, content)).toBe(SIZE);
});

it('a file continues as soon as a line with a small buffer has room, not only at the next attempt', async () => {
  // About 200 kB at every attempt, one in 4 s, would take ten minutes.
  const sent = await sentTo(Number.POSITIVE_INFINITY, 0, LENIENT, atOnce, { file }, narrowLine);
  expect(sent).toBe(SIZE);
});
