/**
 * Requests per second of the REST interface: prepared answers against a bare uWebSockets.js hello and against Fastify with the
 * same bytes, a point read against the same prepared select without HTTP. The load comes from wrk: a generator in Node
 * measures itself. The limiter is on, with an allowance that is never used up.
 * node benchmarks/rest.bench.ts [seconds a measurement = 3] [rounds = 3]
 */

import { App, us_listen_socket_close, us_socket_local_port } from 'uWebSockets.js';
import { spawn, spawnSync } from 'node:child_process';
import Fastify from 'fastify';
import type { Postgres } from '../infra/postgres/postgres.ts';
import { CHAIN, startService } from '../test/api/running-service.ts';

const CONNECTIONS = 32;
const PREPARED = ['/api/oracle/prices', '/api/market/currencies', '/api/stats/', '/api/market/protocol'];
const SAME_BYTES = '/api/oracle/prices';
const POINT = '/api/blocks/500';
const [seconds = 3, rounds = 3] = process.argv.slice(2).map(Number);

if (spawnSync('wrk', ['--version']).error) {
  console.log('not measured: wrk is not installed (Debian: apt-get install wrk)');
  process.exit(0);
}

/** Requests per second. @throws when an answer was an error */
function load(url: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const wrk = spawn('wrk', [
      '--threads',
      '1',
      '--connections',
      String(CONNECTIONS),
      '--duration',
      `${seconds}s`,
      url,
    ]);
    let text = '';
    wrk.stdout.on('data', (chunk) => (text += chunk));
    wrk.on('error', reject).on('close', () => {
      const [, rate] = /Requests\/sec:\s+([\d.]+)/.exec(text) ?? [];
      if (rate === undefined || text.includes('Non-2xx')) reject(new Error(`${url} failed under load: ${text}`));
      else resolve(Number(rate));
    });
  });
}

async function bareHello(): Promise<{ url: string; close(): void }> {
  const app = App().get('/*', (res) => {
    res.end('hello');
  });
  return new Promise((resolve) => {
    app.listen('127.0.0.1', 0, (socket) => {
      if (!socket) throw new Error('no port for the baseline');
      resolve({
        url: `http://127.0.0.1:${us_socket_local_port(socket)}/`,
        close: () => us_listen_socket_close(socket),
      });
    });
  });
}

async function fastifyWith(body: Buffer): Promise<{ url: string; close(): Promise<void> }> {
  const server = Fastify();
  server.get('/', (_request, reply) => reply.type('application/json; charset=utf-8').send(body));
  return { url: await server.listen({ host: '127.0.0.1', port: 0 }), close: () => server.close() };
}

/** Selects per second of the bare client: as many at a time as the service allows itself. */
async function bareSelect({ pool }: Postgres): Promise<number> {
  const text = 'SELECT * FROM blocks WHERE chain = $1 AND height = $2';
  const until = performance.now() + seconds * 1000;
  let done = 0;
  const loop = async () => {
    for (; performance.now() < until; done++) await pool.query({ name: 'bench', text, values: [CHAIN, 500] });
  };
  await Promise.all(Array.from({ length: 10 }, loop));
  return done / seconds;
}

const median = (values: readonly number[]) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

const service = await startService();
const hello = await bareHello();
await service.settled(true);
const fastify = await fastifyWith(Buffer.from(await (await fetch(service.url + SAME_BYTES)).arrayBuffer()));
const subjects: Readonly<Record<string, () => Promise<number>>> = {
  hello: () => load(hello.url),
  fastify: () => load(fastify.url),
  select: () => bareSelect(service.stores.postgres),
  ...Object.fromEntries([...PREPARED, POINT].map((path) => [path, () => load(service.url + path)])),
};
const measured = new Map<string, number[]>();
try {
  // Round by round, so that what else the machine does meets all alike.
  for (let round = 0; round < rounds; round++) {
    for (const [name, measure] of Object.entries(subjects)) {
      measured.set(name, [...(measured.get(name) ?? []), await measure()]);
    }
  }
} finally {
  hello.close();
  await fastify.close();
  await service.stop();
}
const rate = (name: string) => median(measured.get(name) ?? []);
const line = (name: string, baseline: string) => {
  const ratio = rate(name) / rate(baseline);
  console.log(`${name.padEnd(26)}${rate(name).toFixed(0).padStart(9)} /s   ${ratio.toFixed(2)} × ${baseline}`);
};
for (const name of ['hello', 'fastify', 'select'])
  console.log(`${name.padEnd(26)}${rate(name).toFixed(0).padStart(9)} /s`);
for (const path of PREPARED) line(path, 'hello');
line(SAME_BYTES, 'fastify');
line(POINT, 'select');
