/** The memory of daemon answers is bounded from their first byte until they are written, even after their client has gone. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import fc from 'fast-check';
import { pino } from 'pino';
import { afterEach, expect, it } from 'vitest';
import { createVerusdClient } from '../../infra/verusd/verusd-client.ts';
import { type SmallApi, startSmallApi } from '../../test/support/api/http/small-api.ts';
import { leaver, startStubDaemon, type Wire } from '../../test/support/api/rpc/stub-daemon.ts';
import { createAnswerMemory, MOST_ANSWER_BYTES } from '../access/answer-memory.ts';
import { type BufferedBodies, createBufferedBodies } from '../http/buffered-bodies.ts';
import { rawRoutes } from '../rest/blocks/raw-routes.ts';

const KIB = 1024;
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const closer of closers.splice(0).reverse()) await closer();
});

/** Counts the bytes held now, and the maximum so far. */
function observed(bodies: BufferedBodies) {
  const seen = { held: 0, most: 0 };
  /** Nested calls of `grow`: a body that grows may evict others, whose end lets yet another one grow. */
  let growing = 0;
  const counted: BufferedBodies = {
    hold(network, holder) {
      let own = 0;
      const become = (bytes: number) => {
        seen.held += bytes - own;
        own = bytes;
      };
      const body = bodies.hold(network, {
        evict() {
          become(0);
          holder.evict();
        },
      });
      return {
        ...body,
        keep: () => body.keep(),
        grow(bytes) {
          growing += 1;
          become(bytes);
          body.grow(bytes);
          growing -= 1;
          if (growing === 0) seen.most = Math.max(seen.most, seen.held);
        },
        release() {
          become(0);
          body.release();
        },
      };
    },
  };
  return { seen, counted };
}

async function start(mostOfNetwork = 128 * KIB * KIB) {
  const daemon = await startStubDaemon();
  closers.push(daemon.stop);
  const client = createVerusdClient({ rpc: daemon.rpc, chain: 'vrsc', logger: pino({ level: 'silent' }) });
  closers.push(() => client.close());
  const { seen, counted: gathered } = observed(createBufferedBodies({ most: Number.POSITIVE_INFINITY, mostOfNetwork }));
  const api = await startSmallApi({ client, unsent: { gathered }, routes: rawRoutes });
  closers.push(() => api.close());
  return { daemon, api, seen };
}

const post = (api: SmallApi, body: unknown, network = '10.0.0.1') =>
  fetch(`http://127.0.0.1:${api.port}/`, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'x-forwarded-for': network },
  });

const ADDRESS = 'RJvt6CZAzWJEgYd4juBYJzqtmtzAn23c2V';
const callOf = (id: number, method = 'getaddresstxids') => ({ id, method, params: [{ addresses: [ADDRESS] }] });
const REFUSED = {
  result: null,
  error: { code: -32603, message: 'Answers to this caller hold too much memory: ask for less at once' },
};

it('batches of one caller hold no more than its bound, and other callers are answered', async () => {
  const bound = 1024 * KIB;
  const { daemon, api, seen } = await start(bound);
  const sizes = fc.array(fc.array(fc.integer({ min: 1, max: 150 * KIB }), { minLength: 5, maxLength: 5 }), {
    minLength: 10,
    maxLength: 10,
  });
  let refused = 0;
  await fc.assert(
    fc.asyncProperty(sizes, async (batches) => {
      const results = batches.map((batch) => batch.map((bytes) => randomBytes(bytes >> 1).toString('hex')));
      daemon.answer = async ({ id }) => JSON.stringify(results.flat()[Number(id)] ?? 'other');
      seen.most = 0;
      const asked = results.map((batch, index) =>
        post(
          api,
          batch.map((_, at) => callOf(5 * index + at)),
        ),
      );
      const other = await post(api, callOf(1_000), '10.0.0.2');
      expect(await other.json()).toEqual({ result: 'other', error: null, id: 1_000 });
      for (const [index, answer] of (await Promise.all(asked)).entries()) {
        const outcomes = (await answer.json()) as unknown[];
        const whole = results[index]?.map((result, at) => ({ result, error: null, id: 5 * index + at }));
        const none = whole?.map(({ id }) => ({ ...REFUSED, id }));
        if (JSON.stringify(outcomes) === JSON.stringify(none)) refused += 1;
        else expect(outcomes).toEqual(whole);
      }
      expect(seen.most).toBeLessThanOrEqual(bound + 1 * KIB);
      expect(seen.held).toBe(0);
    }),
    { numRuns: 5, endOnFailure: true },
  );
  expect(refused).toBeGreaterThan(0);
});

it('an answer whose headers announce more than the largest block is refused before its body', async () => {
  const { daemon, api, seen } = await start();
  daemon.answer = async () => ({ announces: MOST_ANSWER_BYTES + 1 });
  const answer = await post(api, callOf(1));
  expect(answer.status).toBe(500);
  expect(await answer.json()).toEqual({
    result: null,
    error: { code: -32603, message: 'Answer too large: at most 67108864 bytes are handed on' },
    id: 1,
  });
  expect(seen.held).toBe(0);
});

/** A promise that a test resolves. */
const gate = () => Promise.withResolvers<string>();

it('the rest of a batch is not sent after its client has gone, and no memory is held', async () => {
  const { daemon, api, seen } = await start();
  const first = gate();
  daemon.answer = ({ id }) => (id === 1 ? first.promise : Promise.resolve(String(id)));
  const asked = once(daemon.events, 'asked');
  const socket = leaver(
    api.port,
    [1, 2, 3].map((id) => callOf(id)),
  );
  await asked;
  const gone = once(socket, 'close');
  socket.destroy();
  await gone;
  expect(await (await post(api, callOf(9))).json()).toMatchObject({ result: 9 });
  first.resolve(`"${'0'.repeat(1024 * KIB)}"`);
  expect(await (await post(api, callOf(10))).json()).toMatchObject({ result: 10 });
  expect(daemon.calls.map(({ id }) => id)).toEqual([1, 9, 10]);
  expect(seen.held).toBe(0);
});

it('a call keeps its place at the daemon after its client has gone', async () => {
  const { daemon, api } = await start();
  const first = gate();
  daemon.answer = ({ id }) => (id === 1 ? first.promise : Promise.resolve(String(id)));
  const slow = (id: number) => ({ id, method: 'verifychain', params: [1, id] }); // one at a time
  const asked = once(daemon.events, 'asked');
  const socket = leaver(api.port, slow(1));
  await asked;
  const gone = once(socket, 'close');
  socket.destroy();
  await gone;
  const second = post(api, slow(2));
  expect(await (await post(api, callOf(9))).json()).toMatchObject({ result: 9 });
  expect(daemon.calls.map(({ id }) => id)).toEqual([1, 9]);
  first.resolve('true');
  expect(await (await second).json()).toMatchObject({ result: 2 });
  expect(daemon.calls.map(({ id }) => id)).toEqual([1, 9, 2]);
});

it('callers of an equal call share the answer of a call whose client has gone', async () => {
  const { daemon, api, seen } = await start();
  const first = gate();
  daemon.answer = ({ method }) => (method === 'getblock' ? first.promise : Promise.resolve('0'));
  const call = { id: 1, method: 'getblock', params: ['0'.repeat(64), 0] };
  const asked = once(daemon.events, 'asked');
  const socket = leaver(api.port, call);
  await asked;
  const gone = once(socket, 'close');
  socket.destroy();
  await gone;
  await post(api, callOf(9)); // by now the service has noticed
  const others = [2, 3].map((id) => post(api, { ...call, id }));
  await post(api, callOf(10)); // by now both calls have arrived
  first.resolve('"00"');
  for (const [index, answer] of (await Promise.all(others)).entries())
    expect(await answer.json()).toEqual({ result: '00', error: null, id: index + 2 });
  expect(daemon.calls.filter(({ method }) => method === 'getblock').length).toBe(1);
  expect(seen.held).toBe(0);
});

it('a broadcast under way is answered although its batch is given up', async () => {
  const bound = 64 * KIB;
  const { daemon, api } = await start(bound);
  const sent = gate();
  daemon.answer = async ({ id, method }) =>
    method === 'sendrawtransaction' ? sent.promise : JSON.stringify('0'.repeat(Number(id) * KIB));
  const asked = new Promise<void>((resolve) => {
    daemon.events.on('asked', ({ method }: Wire) => method === 'sendrawtransaction' && resolve());
  });
  const batch = post(api, [callOf(20), { id: 1, method: 'sendrawtransaction', params: ['00'] }, callOf(2)]);
  await asked;
  await (await post(api, [callOf(30), callOf(31)])).arrayBuffer(); // gives up the batch, or itself
  sent.resolve('"txid"');
  expect(await (await batch).json()).toContainEqual({ result: 'txid', error: null, id: 1 });
});

it('a transaction that a batch has broadcast is answered although the batch is given up', async () => {
  const bound = 64 * KIB;
  const { daemon, api, seen } = await start(bound);
  daemon.answer = async ({ method }) =>
    method === 'sendrawtransaction' ? '"txid"' : JSON.stringify('0'.repeat(2 * bound));
  const batch = [{ id: 1, method: 'sendrawtransaction', params: ['00'] }, callOf(2), callOf(3)];
  expect(await (await post(api, batch)).json()).toEqual([
    { result: 'txid', error: null, id: 1 },
    { ...REFUSED, id: 2 },
    { ...REFUSED, id: 3 },
  ]);
  expect(seen.held).toBe(0);
});

const step = fc.constantFrom('holds', 'keep', 'giveUp', 'release', 'evict');

it('a memory holds nothing after its release, whatever is called then', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(step, fc.nat(100))), fc.array(fc.tuple(step, fc.nat(100))), (before, after) => {
      let held = 0;
      let evict = () => {};
      const memory = createAnswerMemory(
        {
          gather: (_, giveUp) => {
            evict = giveUp;
            return {
              keep: (bytes) => {
                held = bytes;
              },
              release: () => {
                held = 0;
              },
            };
          },
        },
        'payer',
      );
      const take = ([name, bytes]: readonly [string, number]) => {
        if (name === 'holds') memory.holds(bytes);
        else if (name === 'keep') memory.keep(bytes);
        else if (name === 'giveUp') memory.giveUp();
        else if (name === 'release') memory.release();
        else evict();
      };
      for (const one of before) take(one);
      memory.release();
      for (const one of after) take(one);
      expect(held).toBe(0);
    }),
  );
});

it('a call that another client waits for continues without the client that started it', async () => {
  const { daemon, api } = await start();
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  daemon.answer = async ({ method }) => {
    if (method === 'getblock') await held;
    return '"00"';
  };
  const call = { id: 1, method: 'getblock', params: ['0'.repeat(64), 0] };
  const asked = once(daemon.events, 'asked');
  const first = leaver(api.port, call);
  await asked;
  const second = post(api, { ...call, id: 2 });
  await post(api, callOf(3)); // the second has joined by now
  const gone = once(first, 'close');
  first.destroy();
  await gone;
  await post(api, callOf(4)); // by now the service has noticed
  release();
  expect(await (await second).json()).toEqual({ result: '00', error: null, id: 2 });
  expect(daemon.calls.filter(({ method }) => method === 'getblock').length).toBe(1);
});

it('on REST too, queued calls of clients that have gone are not sent', async () => {
  const { daemon, api } = await start();
  const held = Promise.withResolvers<string>();
  daemon.answer = () => held.promise;
  const pathOf = (digit: string) => `/api/tx/${digit.repeat(64)}/raw`;
  const sockets = await Promise.all(
    Array.from('01234567', async (digit) => {
      const socket = connect(api.port, '127.0.0.1');
      await once(socket, 'connect');
      socket.write(`GET ${pathOf(digit)} HTTP/1.1\r\nHost: a\r\n\r\n`);
      return socket;
    }),
  );
  await expect.poll(() => daemon.calls.length).toBe(5);
  const get = (path: string) => fetch(`http://127.0.0.1:${api.port}${path}`);
  await get('/read'); // by now all requests have arrived
  await Promise.all(
    sockets.map(async (socket) => {
      const closed = once(socket, 'close');
      socket.destroy();
      await closed;
    }),
  );
  await get('/read'); // by now the service has noticed
  const stays = get(pathOf('8'));
  held.resolve('{"a":1}');
  expect(await (await stays).text()).toBe('{"a":1}');
  expect(daemon.calls).toHaveLength(6);
});
