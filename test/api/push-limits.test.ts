/** Work that strangers may cause through the push stream, over real sockets: names count, and a caller without credits causes none. */
import crypto from 'node:crypto';
import { once } from 'node:events';
import { syncBuiltinESMExports } from 'node:module';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { watchLoopTurns } from '../support/infra/loop-turns.ts';
import { type RunningService, startService } from './running-service.ts';
import { StreamReader } from './stream-reader.ts';

/** Credits of the key that is used up again and again. */
const KEY_CREDITS = 3;
const HANG_MS = 2_000;
/** Labels of each name in the flood of messages; each label is hashed once. */
const LABELS = 3;

/** The labels that this file sends. */
const SAID = /^(n?\d+|x+|a)$/;

let service: RunningService;
/** Number of hashed labels that callers sent; the stages hash others meanwhile. */
let hashed = 0;
const { hash } = crypto;

beforeAll(async () => {
  crypto.hash = new Proxy(hash, {
    apply(target, self, args: Parameters<typeof hash>) {
      if (args[0] === 'sha256' && SAID.test(Buffer.from(args[1] as Uint8Array).toString('latin1'))) hashed += 1;
      return Reflect.apply(target, self, args);
    },
  });
  syncBuiltinESMExports();
  const tiers = {
    free: { creditsPerMinute: 1_000 },
    developer: { creditsPerMinute: KEY_CREDITS },
    pro: { creditsPerMinute: 500 },
  };
  service = await startService({ startHeight: 840, limits: { tiers, keylessRequestsPerMinute: 10_000 } });
  await service.settled();
}, 300_000);

afterAll(async () => {
  crypto.hash = hash;
  syncBuiltinESMExports();
  await service?.stop();
});

const manyNames = (count: number) => Array.from({ length: count }, (_, index) => `n${index}`);

/** A WebSocket ping of the largest size. */
const PING = Buffer.concat([Buffer.from([0x89, 0x80 | 125]), Buffer.alloc(4 + 125)]);
const PONG = Buffer.concat([Buffer.from([0x8a, 125]), Buffer.alloc(125)]);

describe('WebSocket', () => {
  it('answers at most as many pings of a client that does not read as it may send messages', async () => {
    const socket = connect(service.port, '127.0.0.1');
    socket.write(
      'GET /api/ws HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n' +
        'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n',
    );
    await once(socket, 'readable'); // the upgrade
    for (let sent = 0; sent < 5_000; sent += 100) socket.write(Buffer.concat(Array(100).fill(PING)));
    await sleep(500);
    const received: Buffer[] = [];
    for await (const bytes of socket) received.push(bytes);
    const all = Buffer.concat(received);
    let pongs = 0;
    for (let at = all.indexOf(PONG); at >= 0; at = all.indexOf(PONG, at + PONG.length)) pongs += 1;
    expect(pongs).toBeGreaterThan(50);
    expect(pongs).toBeLessThanOrEqual(101);
    expect(all.includes('may send 100 messages')).toBe(true);
  });

  it('refuses 2,000 names in a message before one of them is hashed', async () => {
    const reader = new StreamReader(service.port);
    await reader.opened();
    hashed = 0;
    reader.send({ op: 'subscribe', id: 1, channels: ['conversions'], filter: { currency: manyNames(2_000) } });
    while (!reader.closed) await sleep(10);
    expect(reader.messages.at(-1)).toMatchObject({ type: 'error', code: 'limit_exceeded' });
    expect(hashed).toBe(0);
  });

  it('hashes for a network only what it may cause, however many connections it has; others do not wait', async () => {
    hashed = 0;
    const readers: StreamReader[] = [];
    const turns = watchLoopTurns();
    for (let number = 0; number < 8; number += 1) {
      const reader = new StreamReader(service.port);
      readers.push(reader);
      await reader.opened();
    }
    for (const [number, reader] of readers.entries()) {
      for (let message = 0; message < 40; message += 1) {
        const currency = manyNames(300).map((name) => `${name}.${number}.${message}`);
        reader.send({ op: 'subscribe', id: 1, channels: ['conversions'], filter: { currency } });
      }
    }
    // Another caller is answered meanwhile.
    expect((await fetch(`${service.url}/api/health`)).status).toBe(200);
    await sleep(3_000);
    turns.stop();
    console.log(
      `320 messages of 300 names: ${hashed / LABELS} hashed, the longest turn of the event loop took ${turns.longest().toFixed(0)} ms of CPU`,
    );
    // Of 192,000, since each name is hashed with and without the suffix of bridged currencies. Both cost nine units, of 3,000 at once and
    // 20,000 a minute, however long the test takes to send all messages.
    expect(hashed / LABELS).toBeGreaterThanOrEqual(400);
    expect(hashed / LABELS).toBeLessThan(10_000);
    expect(turns.longest()).toBeLessThan(HANG_MS);
    await Promise.all(readers.map((reader) => reader.close()));
  });
});

describe('server-sent events', () => {
  it('hash nothing for a caller that has used up its credits, whatever the query contains', async () => {
    const headers = { authorization: `Bearer ${await service.issueKey('developer')}` };
    const status = async (query: string) => {
      const stop = new AbortController();
      const answer = await fetch(`${service.url}/api/stream?${query}`, { headers, signal: stop.signal });
      stop.abort();
      return answer.status;
    };
    for (const list of ['currency', 'basket', 'identity', 'address']) {
      for (const names of [manyNames(600).join(','), 'x'.repeat(3_200), 'a.'.repeat(1_600)]) {
        while ((await status('')) === 200);
        hashed = 0;
        expect(await status(`channels=conversions&${list}=${names}`)).toBe(429);
        expect(hashed).toBe(0);
      }
    }
  });
});
