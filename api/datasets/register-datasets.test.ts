/** Every request of the data set is charged to its network's allowance, and requests beyond it cause no work. */
import { App, us_socket_local_port } from 'uWebSockets.js';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { sendRaw } from '../../test/support/api/http/raw-client.ts';
import { createReadVisitor } from '../access/visitor.ts';
import { framedRoutes } from '../http/framed-routes.ts';
import { createUnsentAnswers } from '../http/unsent-answers.ts';
import { createFolderAnswers } from './folder-answers.ts';
import { registerDatasets } from './register-datasets.ts';
import { createServedFolder } from './served-folder.ts';

const HASH = 'ab'.repeat(32);
const FILE = `blocks/chain=vrsc/2020-01-01.${HASH.slice(0, 16)}.parquet`;
const entry = (path: string) => ({
  ...{ table: 'blocks', chain: 'vrsc', day: '2020-01-01', closed: true, rows: 1, minHeight: 1, maxHeight: 1 },
  ...{ fromHeight: 1, toHeight: 1, generation: null, schemaVersion: 1, bytes: 1_000, sha256: HASH, path },
});
const closers: (() => unknown)[] = [];
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'verustream-datasets-'));
  await mkdir(dirname(join(folder, FILE)), { recursive: true });
  await writeFile(join(folder, FILE), Buffer.alloc(1_000));
  await manifest([FILE]);
});
afterAll(async () => {
  for (const closer of closers) closer();
  await rm(folder, { recursive: true, force: true });
});
const manifest = (paths: readonly string[]) => writeFile(join(folder, 'blocks.json'), JSON.stringify(paths.map(entry)));

async function start(bytesPerHour: number, underWay = { count: 0, sending: 0 }): Promise<string> {
  const app = App();
  const options = {
    config: { datasets: { folder, bytesPerHour, url: null } },
    access: { readVisitor: createReadVisitor(['127.0.0.1']) },
    underWay,
    unsent: createUnsentAnswers(),
    api: { logger: pino({ level: 'silent' }) },
  } as unknown as Parameters<typeof registerDatasets>[1];
  registerDatasets(framedRoutes(app), options);
  closers.push(() => app.close());
  return new Promise((resolve, reject) => {
    app.listen('127.0.0.1', 0, (socket) =>
      socket ? resolve(`http://127.0.0.1:${us_socket_local_port(socket)}`) : reject(new Error('no port')),
    );
  });
}

let networks = 0;
const newNetwork = () => `10.${networks >> 8}.${networks++ & 255}.1`;

async function statusOf(url: string, method: string, network: string, headers: Record<string, string> = {}) {
  const answer = await fetch(url, { method, headers: { 'x-forwarded-for': network, ...headers } });
  await answer.arrayBuffer();
  return answer.status;
}

const [MADE, FILE_PRICE, PART] = [256_000, 4_000, 16_384];
const RANGE = { range: 'bytes=0-0' };

it.each([
  ['GET', '/datasets/', 200, MADE],
  ['GET', '/datasets?list-type=2&max-keys=1', 200, MADE],
  ['HEAD', '/datasets/?list-type=2', 200, MADE],
  ['GET', '/datasets/?max-keys=many', 400, MADE],
  ['GET', '/datasets/?location', 200, MADE],
  ['PUT', '/datasets/', 405, MADE],
  ['GET', '/api/datasets/', 200, MADE],
  ['HEAD', '/api/datasets', 200, MADE],
  ['GET', '/api/datasets/?numbers=roman', 400, MADE],
  ['GET', '/api/datasets/blocks.json', 200, MADE],
  ['HEAD', '/datasets/blocks.json', 200, MADE],
  ['GET', '/api/datasets/nothing.json', 404, MADE],
  ['GET', '/api/datasets/nothing', 404, FILE_PRICE],
  ['HEAD', '/datasets/no/thing', 404, FILE_PRICE],
  ['DELETE', `/datasets/${FILE}`, 405, FILE_PRICE],
  ['HEAD', `/datasets/${FILE}`, 200, FILE_PRICE],
  ['GET', `/datasets/${FILE}`, 200, PART],
  ['GET', `/datasets/${FILE}`, 206, PART, RANGE],
  ['GET', `/datasets/${FILE}`, 416, FILE_PRICE, { range: 'bytes=9999-' }],
  ['GET', `/datasets/${FILE}`, 304, FILE_PRICE, { 'if-none-match': '*, "abababababababab"' }],
] as const)(
  '%s %s is answered with %i and costs %i bytes',
  async (method, path, status, price, headers: Record<string, string> = {}) => {
    const affordable = 6;
    const url = (await start((affordable - 0.5) * price)) + path;
    const network = newNetwork();
    const statuses: number[] = [];
    for (let n = 0; n < affordable + 2; n++) statuses.push(await statusOf(url, method, network, headers));
    expect(statuses).toEqual([...Array(affordable).fill(status), 429, 429]);
    expect(await statusOf(url, method, newNetwork(), headers)).toBe(status);
  },
);

it('random requests each cost at least their price, and refused ones do no work', async () => {
  const base = await start(2_000_000);
  const requests = fc.constantFrom(
    ...(['/datasets/', '/api/datasets/', '/api/datasets/blocks.json', '/datasets/?max-keys=x'] as const).flatMap(
      (path) => (['GET', 'HEAD', 'POST'] as const).map((method) => ({ method, path, price: MADE })),
    ),
    ...(['HEAD', 'PUT'] as const).map((method) => ({ method, path: `/datasets/${FILE}`, price: FILE_PRICE })),
    { method: 'GET' as const, path: '/datasets/nothing', price: FILE_PRICE },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(requests, { minLength: 10, maxLength: 40 }), async (asked) => {
      const network = newNetwork();
      let spent = 0;
      let isRefused = false;
      for (const { method, path, price } of asked) {
        const status = await statusOf(base + path, method, network);
        // The allowance grows by some hundred bytes a second meanwhile.
        if (status === 429) expect(spent).toBeGreaterThan(1_900_000);
        else expect(spent).toBeLessThan(2_100_000);
        isRefused ||= status === 429;
        if (status !== 429) spent += price;
      }
      if (!isRefused) return;
      await writeFile(join(folder, 'blocks.json'), 'no JSON');
      const statuses = [
        await statusOf(`${base}/datasets/`, 'GET', network),
        await statusOf(`${base}/datasets/`, 'GET', newNetwork()),
      ];
      await manifest([FILE]);
      expect(statuses).toEqual([429, 500]);
    }),
    { numRuns: 25 },
  );
});

it('listings and the index are made once for each query and state of the folder, and show its current state', async () => {
  const served = createServedFolder(folder);
  const kept = createFolderAnswers(served);
  const queries = fc.record({
    isS3: fc.boolean(),
    query: fc.constantFrom('', 'numbers=text', 'numbers=json'),
    prefix: fc.constantFrom('', 'blocks', 'b', 'x'),
    origin: fc.constantFrom('http://a', 'https://b'),
  });
  const change = fc.integer({ min: 1, max: 5 });
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(queries, change), { minLength: 1, maxLength: 8 }), async (steps) => {
      for (const [{ isS3, query, prefix, origin }, files] of steps) {
        await manifest(
          Array.from({ length: files }, (_, n) => `blocks/chain=vrsc/2020-01-0${n}.${HASH.slice(0, 16)}.parquet`),
        );
        const asked = { isS3, origin, query: isS3 ? `prefix=${prefix}` : query };
        const first = await kept(asked, `${origin}/api/datasets/`);
        const fresh = await createFolderAnswers(createServedFolder(folder))(asked, `${origin}/api/datasets/`);
        expect([first.body.toString(), first.type]).toEqual([fresh.body.toString(), fresh.type]);
        expect(await kept(asked, `${origin}/api/datasets/`)).toBe(first);
      }
    }),
    { numRuns: 25 },
  );
  await manifest([FILE]);
});

it('a listing shows the same time of an object as its own answer, also after a later manifest', async () => {
  const base = await start(1_000_000_000);
  const network = newNetwork();
  const written = new Date(1_600_000_000_789);
  const rewrite = async () => {
    await utimes(join(folder, FILE), written, written);
    await manifest([FILE]);
  };
  await rewrite();
  const times = async () => {
    const headers = { 'x-forwarded-for': network };
    const xml = await (await fetch(`${base}/datasets/?list-type=2`, { headers })).text();
    const listed = new Map(
      [...xml.matchAll(/<Key>([^<]*)<\/Key><LastModified>([^<]*)</g)].map(([, key = '', at = '']) => [key, at]),
    );
    for (const key of ['blocks.json', FILE]) {
      const { headers: own } = await fetch(`${base}/datasets/${key}`, { method: 'HEAD', headers });
      expect(listed.get(key)).toBe(new Date(own.get('Last-Modified') ?? '').toISOString());
    }
    return listed.get(FILE);
  };
  expect(await times()).toBe('2020-09-13T12:26:40.000Z');
  await rewrite();
  expect(await times()).toBe('2020-09-13T12:26:40.000Z');
  written.setTime(1_700_000_000_000); // the same bytes, written again
  await rewrite();
  expect(await times()).toBe('2020-09-13T12:26:40.000Z');
});

it('a manifest is charged in full, even if the client leaves in the middle', async () => {
  await manifest(Array.from({ length: 60_000 }, (_, n) => `blocks/chain=vrsc/2020-01-01.${n}.parquet`));
  const { size } = await stat(join(folder, 'blocks.json'));
  const underWay = { count: 0, sending: 0 };
  const { port, origin } = new URL(await start(0.8 * size, underWay));
  const network = newNetwork();
  const socket = connect({ port: Number(port), host: '127.0.0.1' });
  socket.write(`GET /api/datasets/blocks.json HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${network}\r\n\r\n`);
  await once(socket, 'readable');
  socket.destroy();
  while (underWay.sending > 0) await sleep(10);
  expect(await statusOf(`${origin}/api/datasets/nothing`, 'GET', network)).toBe(429);
  await manifest([FILE]);
});

it('concurrent listings are made one after another with a pause, also for HEAD', async () => {
  const base = await start(1_000_000_000);
  const asked = 40;
  const list = (n: number) => statusOf(`${base}/datasets/?list-type=2&start-after=${n}`, 'HEAD', newNetwork());
  await list(asked);
  const began = performance.now();
  const statuses = await Promise.all(Array.from({ length: asked }, (_, n) => list(n)));
  expect(new Set(statuses)).toEqual(new Set([200]));
  expect(performance.now() - began).toBeGreaterThan(asked * 20);
});

it('a chunked body is refused, and no request behind it is served', async () => {
  const { port } = new URL(await start(1_000_000_000));
  for (const path of ['/datasets/', '/api/datasets/', `/datasets/${FILE}`]) {
    const chunked = `POST ${path} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`;
    const alone = await sendRaw(Number(port), [chunked]);
    expect([alone.statuses, alone.closed]).toEqual([[405], true]);
    const followed = await sendRaw(Number(port), [`${chunked}GET /datasets/ HTTP/1.1\r\nHost: x\r\n\r\n`]);
    expect([followed.statuses.includes(200), followed.closed]).toEqual([false, true]);
  }
});
