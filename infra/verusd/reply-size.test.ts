/** The memory of a reply is reported at each change, and a reply that is too large does not count as a fault of the daemon. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import fc from 'fast-check';
import { pino } from 'pino';
import { afterEach, expect, it } from 'vitest';
import { DaemonReplyTooLarge } from './daemon-errors.ts';
import { createDaemonGroup } from './daemon-group.ts';

const MOST = 200_000;
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const closer of closers.splice(0).reverse()) await closer();
});

/** Sends replies of `size()` bytes in several pieces; counts the calls that are not from the watch. */
async function start(size: () => number, hasLength: () => boolean) {
  const seen = { calls: 0 };
  const server = createServer((request, response) => {
    void text(request).then((asked) => {
      if (asked === '{}') seen.calls += 1;
      const body = Buffer.alloc(Math.max(size(), 13), '1');
      body.write('{"result":');
      body.write('}\n', body.length - 2);
      if (hasLength()) response.setHeader('content-length', body.length);
      for (let at = 0; at < body.length; at += 30_000) response.write(body.subarray(at, at + 30_000));
      response.end();
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  closers.push(() => {
    server.close();
    server.closeAllConnections();
  });
  return { rpc: `http://u:p@127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

it('reports the memory of a reply: up to its length, up to twice that while its pieces are joined, and 0 when it fails', async () => {
  let [size, hasLength] = [0, true];
  const daemon = await start(
    () => size,
    () => hasLength,
  );
  const group = createDaemonGroup({ rpc: daemon.rpc, chain: 'vrsc', logger: pino({ level: 'silent' }) });
  closers.push(() => group.close());
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 13, max: 2 * MOST }), fc.boolean(), async (bytes, announced) => {
      [size, hasLength] = [bytes, announced];
      const said: number[] = [];
      const asked = group.forward('{}', { label: 'x', maxBytes: MOST, holds: (held) => said.push(held) });
      if (bytes > MOST) {
        await expect(asked).rejects.toBeInstanceOf(DaemonReplyTooLarge);
        expect(said.at(-1)).toBe(0);
        expect(Math.max(...said)).toBeLessThanOrEqual(announced ? 0 : MOST);
      } else {
        expect((await asked).body.length).toBe(bytes);
        expect(said.at(-1)).toBe(bytes);
        expect(Math.max(...said)).toBeLessThanOrEqual(announced ? bytes : 2 * bytes);
      }
    }),
    { numRuns: 60 },
  );
});

it('after a reply that is too large, no other daemon is asked, and the first daemon stays the first', async () => {
  const [first, second] = await Promise.all(
    [1, 2].map(() =>
      start(
        () => MOST + 1,
        () => true,
      ),
    ),
  );
  if (!first || !second) throw new TypeError('two daemons');
  const group = createDaemonGroup({
    rpc: [first.rpc, second.rpc],
    chain: 'vrsc',
    logger: pino({ level: 'silent' }),
    timing: { everyMs: 600_000, timeoutMs: 60_000 },
  });
  closers.push(() => group.close());
  const asked = () => group.forward('{}', { label: 'x', maxBytes: MOST });
  await expect(asked()).rejects.toBeInstanceOf(DaemonReplyTooLarge);
  await expect(asked()).rejects.toBeInstanceOf(DaemonReplyTooLarge);
  expect([first.seen.calls, second.seen.calls]).toEqual([2, 0]);
});
