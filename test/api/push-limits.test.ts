/** What strangers may cause by the push stream, over real sockets: names are counted, and a caller who has used up what it may costs nothing. */
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { watchLoopTurns } from '../support/infra/loop-turns.ts';
import { type RunningService, startService } from './running-service.ts';
import { StreamReader } from './stream-reader.ts';

/** Of the key that is used up again and again. */
const KEY_CREDITS = 3;
const HANG_MS = 2_000;
/** Of each name in the flood of messages: each is hashed once. */
const LABELS = 3;

/** The labels of this file. */
const SAID = /^(n?\d+|x+|a)$/;

let service: RunningService;
/** Hashes of labels that callers said; the stages hash others meanwhile. */
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

describe('WebSocket', () => {
  it('refuses 2,000 names in a message before one of them is hashed', async () => {
    const reader = new StreamReader(service.port);
    await reader.opened();
    hashed = 0;
    reader.send({ op: 'subscribe', id: 1, channels: ['conversions'], filter: { currency: manyNames(2_000) } });
    while (!reader.closed) await new Promise((resolve) => setTimeout(resolve, 10));
    expect(reader.messages.at(-1)).toMatchObject({ type: 'error', code: 'limit_exceeded' });
    expect(hashed).toBe(0);
  });

  it('hashes for a network what it may cause, however many connections say it; others do not wait', async () => {
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
        const currency = manyNames(400).map((name) => `${name}.${number}.${message}`);
        reader.send({ op: 'subscribe', id: 1, channels: ['conversions'], filter: { currency } });
      }
    }
    // Another caller is answered meanwhile.
    expect((await fetch(`${service.url}/api/health`)).status).toBe(200);
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    turns.stop();
    console.log(
      `320 messages of 400 names: ${hashed / LABELS} hashed, the longest turn of the event loop took ${turns.longest().toFixed(0)} ms of CPU`,
    );
    // Of 128,000. Each is four units (its root is a label too) of 3,000 at once and 20,000 a minute, however long the test takes to say it all.
    expect(hashed / LABELS).toBeGreaterThanOrEqual(400);
    expect(hashed / LABELS).toBeLessThan(10_000);
    expect(turns.longest()).toBeLessThan(HANG_MS);
    await Promise.all(readers.map((reader) => reader.close()));
  });
});

describe('server-sent events', () => {
  it('cost a caller who has used up its credits no hashing, whatever the query says', async () => {
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
