/** The push stream over real sockets while the recorded node moves, reorganises and the server restarts. */
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { behindHead } from '../support/api/http/raw-client.ts';
import { renameCurrency } from './rename-currency.ts';
import { CHAIN, type RunningService, startService } from './running-service.ts';
import { foldBlocks, StreamReader } from './stream-reader.ts';
import type { LooseJson } from './truth.ts';

let service: RunningService;
const FORK = 845;
const START = FORK - 15;
const HEARTBEAT_MS = 1_500;

beforeAll(async () => {
  service = await startService({ startHeight: START, push: { heartbeatMs: HEARTBEAT_MS } });
  await service.settled();
}, 300_000);

afterAll(() => service?.stop());

const openReader = (query?: string) => new StreamReader(service.port, query);

/** The API reads the state several times a second; a greeting may be that much older than the last commit. */
async function openedAtTip(): Promise<{ reader: StreamReader; hello: LooseJson }> {
  for (let tries = 0; ; tries++) {
    const reader = openReader();
    const hello = await reader.opened();
    const { height, hash } = service.node;
    const tip = { height, hash, finalizedHeight: height - 100 };
    if (hello.chains[CHAIN].hash === tip.hash || tries === 300) {
      expect(hello.chains[CHAIN]).toEqual(tip);
      return { reader, hello };
    }
    await reader.close();
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

const atTip = (message: LooseJson) => message.type === 'block' && message.data.hash === service.node.hash;

async function step(count = 1): Promise<void> {
  for (let made = 0; made < count; made++) {
    service.node.step();
    await service.settled();
  }
}

async function stream(query: string, headers: Record<string, string> = {}) {
  const stop = new AbortController();
  const answer = await fetch(`${service.url}/api/stream${query}`, { headers, signal: stop.signal });
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  return {
    answer,
    async until(part: string): Promise<string> {
      while (!text.includes(part)) {
        const chunk = await reader?.read();
        if (!chunk || chunk.done) throw new Error('the stream ended');
        text += chunk.value;
      }
      return text;
    },
    stop: () => stop.abort(),
  };
}

describe('WebSocket', () => {
  it('greets with the tip, then sends blocks without a request', async () => {
    const { reader, hello } = await openedAtTip();
    expect(hello.heartbeatSeconds).toBe(HEARTBEAT_MS / 1000);
    await step(3);
    const blocks = await reader.until(atTip);
    expect(blocks.map(({ type }) => type)).toEqual(['block', 'block', 'block']);
    expect(Object.keys(blocks[0].data)).toEqual([
      'height',
      'hash',
      'previousHash',
      'time',
      'txCount',
      'size',
      'validationType',
      'difficulty',
      'finalizedHeight',
    ]);
    expect(blocks[0].data.finalizedHeight).toBe(blocks[0].data.height - 100);
    expect(blocks[0].data.previousHash).toBe(hello.chains[CHAIN].hash);
    await reader.close();
  });

  it('sends heartbeats in silence, with tips and a cursor', async () => {
    const reader = openReader();
    await reader.opened();
    const beat = await reader.next();
    expect(beat).toMatchObject({ type: 'heartbeat', seq: 1, chains: { [CHAIN]: { height: service.node.height } } });
    expect(typeof beat.cursor).toBe('string');
    await reader.close();
  });

  it('resumes by cursor, with no event lost or repeated, over the reorganisation and a restart of the server', async () => {
    const first = openReader();
    const hello = await first.opened();
    const chain = new Map([[hello.chains[CHAIN].height, hello.chains[CHAIN].hash]]);
    await step(2);
    let seen = await first.until(atTip);
    foldBlocks(seen, chain);
    await first.close();

    await step(3);
    const second = openReader();
    await second.opened();
    second.send({ op: 'subscribe', id: 1, channels: ['blocks'], chains: [CHAIN], cursor: seen.at(-1).cursor });
    expect(await second.next()).toMatchObject({ type: 'ack', id: 1, seq: 1 });
    seen = await second.until(atTip);
    foldBlocks(seen, chain);
    await second.close();

    let undone = 0;
    const third = openReader(`?cursor=${seen.at(-1).cursor}`);
    while (service.node.height < FORK + 20) await step();
    seen = await third.until(atTip);
    undone += seen.filter(({ type }) => type === 'undo').length;
    foldBlocks(
      seen.filter(({ type }) => type !== 'hello'),
      chain,
    );
    expect(undone).toBeGreaterThan(0);
    await third.close();

    await service.restartApi();
    await step(4);
    const fourth = openReader(`?cursor=${seen.at(-1).cursor}`);
    foldBlocks(
      (await fourth.until(atTip)).filter(({ type }) => type !== 'hello'),
      chain,
    );
    await fourth.close();

    const { rows } = await service.stores.postgres.pool.query('SELECT height, hash FROM blocks WHERE chain = $1', [
      CHAIN,
    ]);
    const stored = new Map(rows.map(({ height, hash }: LooseJson) => [height, hash]));
    for (const [height, hash] of chain) expect([height, hash]).toEqual([height, stored.get(height)]);
    expect(Math.max(...chain.keys())).toBe(service.node.height);

    // Everything again, from the first cursor: the abandoned branch is sent and undone.
    const whole = openReader();
    await whole.opened();
    whole.send({ op: 'subscribe', cursor: hello.cursor });
    const again = foldBlocks(
      (await whole.until(atTip)).filter(({ type }) => type === 'block' || type === 'undo'),
      new Map([[hello.chains[CHAIN].height, hello.chains[CHAIN].hash]]),
    );
    expect(again).toEqual(chain);
    await whole.close();
  });

  it('shows only what Postgres has committed', async () => {
    const reader = openReader();
    await reader.opened();
    service.node.step();
    const [block] = await reader.until(atTip);
    const answer = await fetch(`${service.url}/api/blocks/${block.data.height}`);
    expect(((await answer.json()) as LooseJson).hash).toBe(block.data.hash);
    await reader.close();
  });

  it('sends the other channels, filtered', async () => {
    const reader = openReader(`?cursor=${await beginning()}`);
    await reader.opened();
    reader.send({
      op: 'subscribe',
      id: 'c',
      channels: ['conversions', 'reserves'],
      filter: { currency: 'usdx' },
      cursor: await beginning(),
    });
    reader.send({
      op: 'subscribe',
      id: 'i',
      channels: ['identities'],
      filter: { identity: 'bob@' },
      cursor: await beginning(),
    });
    const address = 'RJvt6CZAzWJEgYd4juBYJzqtmtzAn23c2V';
    reader.send({
      op: 'subscribe',
      id: 'a',
      channels: ['txs', 'addresses'],
      filter: { address },
      cursor: await beginning(),
    });
    await step();
    reader.send({ op: 'ping', id: 'end' });
    const received = (wanted: string) => reader.messages.filter(({ type }) => type === wanted);
    const least = Object.entries({ identity: 4, conversion: 11, address: 1 });
    while (least.some(([type, count]) => received(type).length < count)) await reader.next();
    const usdx = 'iKbuNyLVsZYADYRfhAS2KxTQYJCewHLHgg';
    for (const { data } of received('conversion'))
      expect([data.fromCurrencyId, data.toCurrencyId, data.viaCurrencyId]).toContain(usdx);
    for (const { data } of received('identity')) expect(data.name).toBe('bob');
    for (const { data } of received('address')) expect(data.address).toBe(address);
    await reader.close();
  });

  it('accepts the name of a bridged currency without its suffix, like REST paths', async () => {
    const usdx = 'iKbuNyLVsZYADYRfhAS2KxTQYJCewHLHgg';
    await renameCurrency(service, usdx, 'Dollar, US.vETH');
    try {
      await step(); // names are read again with the next state
      const found = await fetch(`${service.url}/api/currency/dollar, us`);
      expect(await found.text()).toContain(usdx);
      const reader = openReader();
      await reader.opened();
      const filter = { currency: 'dollar, us' };
      reader.send({ op: 'subscribe', id: 1, channels: ['conversions'], filter, cursor: await beginning() });
      const conversion = (await reader.until(({ type }) => type === 'conversion')).at(-1);
      const { fromCurrencyId, toCurrencyId, viaCurrencyId } = conversion.data;
      expect([fromCurrencyId, toCurrencyId, viaCurrencyId]).toContain(usdx);
      await reader.close();
      const events = await stream(`?channels=conversions&currency=nosuch,"dollar, us"&cursor=${await beginning()}`);
      expect(await events.until('event: conversion')).toContain(usdx);
      events.stop();
    } finally {
      await renameCurrency(service, usdx, 'usdx');
    }
  });

  /** A cursor before the first event. */
  async function beginning(): Promise<string> {
    const { encodePlaces, feedKey } = await import('../../api/push/cursor.ts');
    const start = { position: 0, index: 0 };
    return encodePlaces(
      new Map([
        [feedKey('facts', CHAIN), start],
        [feedKey('stamps', CHAIN), start],
      ]),
    );
  }

  it.each([
    ['not json', null, 'invalid_json'],
    ['[]', null, 'invalid_message'],
    ['{"op":"nosuch","id":7}', 7, 'unknown_op'],
    ['{"op":"constructor","id":7}', 7, 'unknown_op'],
    ['{"op":"subscribe","id":8,"channels":["nosuch"]}', 8, 'unknown_channel'],
    ['{"op":"subscribe","id":8,"filter":{"minUsd":-1}}', 8, 'invalid_message'],
    ['{"op":"subscribe","id":8,"chains":["nope"]}', 8, 'unknown_chain'],
    ['{"op":"subscribe","id":8,"colour":"red"}', 8, 'invalid_message'],
    ['{"op":"subscribe","id":8,"channels":["addresses"]}', 8, 'filter_required'],
    ['{"op":"subscribe","id":8,"cursor":"garbage"}', 8, 'cursor_invalid'],
    ['{"op":"unsubscribe","id":"never"}', 'never', 'unknown_subscription'],
  ])('answers %s with an error', async (sent, id, code) => {
    const reader = openReader();
    await reader.opened();
    reader.send(sent);
    expect(await reader.next()).toMatchObject({ type: 'error', id, code });
    reader.send({ op: 'ping', id: 'still' });
    expect(await reader.next()).toMatchObject({ type: 'pong', id: 'still' });
    await reader.close();
  });

  it('sends a resync to a client with a place of another log', async () => {
    const { encodePlaces } = await import('../../api/push/cursor.ts');
    const reader = openReader();
    await reader.opened();
    const cursor = encodePlaces(new Map([[CHAIN, { position: 1_000_000, index: 0 }]]));
    reader.send({ op: 'subscribe', id: 1, cursor });
    await reader.until(({ type }) => type === 'ack');
    const [resync] = await reader.until(({ type }) => type === 'resync');
    expect(resync).toMatchObject({ reason: 'cursor_unknown' });
    expect((await fetch(service.url + resync.snapshot)).status).toBe(200);
    await step();
    expect((await reader.until(atTip)).length).toBe(1);
    await reader.close();
  });

  it('sends nothing more of an ended subscription', async () => {
    const [{ reader }, { reader: other }] = [await openedAtTip(), await openedAtTip()];
    reader.send({ op: 'subscribe', id: 1 });
    reader.send({ op: 'unsubscribe', id: 1 });
    await reader.until(({ type, id }) => type === 'ack' && id === 1);
    await step(2);
    await other.until(atTip);
    reader.send({ op: 'ping', id: 'after the blocks' });
    await reader.until(({ type }) => type === 'pong');
    expect(reader.messages.some(({ type }) => type === 'block')).toBe(false);
    await Promise.all([reader.close(), other.close()]);
  });

  it.each([
    ['100 messages', (reader: StreamReader) => Array.from({ length: 101 }, () => reader.send({ op: 'ping' }))],
    ['16 kB', (reader: StreamReader) => reader.send({ op: 'ping', id: 'x'.repeat(17_000) })],
    [
      '50 subscriptions',
      (reader: StreamReader) => Array.from({ length: 51 }, (_, id) => reader.send({ op: 'subscribe', id })),
    ],
    [
      '1,000 addresses',
      (reader: StreamReader) => {
        for (const id of [0, 1, 2]) {
          const address = Array.from({ length: 400 }, (_, index) => `R${id}x${index}`);
          reader.send({ op: 'subscribe', id, filter: { address } });
        }
      },
    ],
  ])('ends a client beyond %s with 4429', async (_, exceed) => {
    const reader = openReader();
    await reader.opened();
    exceed(reader);
    while (!reader.closed) await new Promise((resolve) => setTimeout(resolve, 10));
    expect(reader.messages.at(-1)).toMatchObject({ type: 'error', code: 'limit_exceeded' });
    expect(reader.closed.code).toBe(4429);
  });
});

it.each([20_000, 60_000, 900_000])('disconnects a client whose frame is too large: %i', async (length) => {
  const reader = openReader();
  await reader.opened();
  reader.send({ op: 'ping', id: 'x'.repeat(length) });
  while (!reader.closed) await new Promise((resolve) => setTimeout(resolve, 10));
  expect(reader.messages.length).toBe(1);
});

describe('server-sent events', () => {
  it('sends the same events, and resumes by Last-Event-ID', async () => {
    const first = await stream('');
    expect(first.answer.headers.get('content-type')).toContain('text/event-stream');
    await first.until('event: hello');
    await step(2);
    const text = await first.until(service.node.hash);
    const ids = [...text.matchAll(/^id: (\S+)\nevent: block$/gm)].map(([, id]) => id ?? '');
    expect(ids.length).toBe(2);
    first.stop();

    const second = await stream('', { 'Last-Event-ID': ids[0] ?? '' });
    const resumed = await second.until(service.node.hash);
    expect(resumed.match(/^event: block$/gm)?.length).toBe(1);
    second.stop();
  });

  it('answers HEAD as GET, without the stream', async () => {
    for (const query of ['', '?channels=nosuch']) {
      expect(await behindHead(service.port, `HEAD /api/stream${query}`)).toMatch(/^HTTP\/1\.1 /);
      const of = async (method: string) => {
        const { status, headers, body } = await fetch(`${service.url}/api/stream${query}`, { method });
        await body?.cancel();
        return [status, headers.get('content-type'), headers.get('cache-control')];
      };
      expect(await of('HEAD')).toEqual(await of('GET'));
    }
  });

  it.each([
    ['?cursor=garbage', '/cursor'],
    ['?channels=nosuch', '/channels'],
    ['?chains=nope', '/chains'],
    ['?channels=addresses', '/address'],
    ['?minUsd=-1', '/minUsd'],
    ['?colour=red', '/colour'],
  ])('refuses %s before it begins, at %s', async (query, at) => {
    const answer = await fetch(`${service.url}/api/stream${query}`);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([400, 'application/problem+json']);
    expect(await answer.json()).toMatchObject({ errors: [{ pointer: at }] });
  });
});

describe('metrics', () => {
  it('counts clients and requests by template', async () => {
    const reader = openReader();
    await reader.opened();
    await (await fetch(`${service.url}/api/blocks/5`)).text();
    await (await fetch(`${service.url}/api/blocks/5`, { method: 'INVENTED' })).text();
    const text = await (await fetch(`${service.url}/metrics`)).text();
    expect(text).toMatch(/^verustream_websocket_clients [1-9]/m);
    expect(text).toMatch(/route="\/api\/blocks\/:height",method="get",status="200"/);
    expect(text).toContain('method="other",status="405"');
    expect(text.toLowerCase()).not.toContain('invented');
    expect(text).not.toContain('/api/blocks/5');
    await reader.close();
  });
});

describe('a client that disconnects', () => {
  it('in the middle of a request does no harm', async () => {
    for (let round = 0; round < 20; round++) {
      await new Promise<void>((resolve) => {
        const socket = connect(service.port, '127.0.0.1', () => {
          socket.write('GET /api/blocks/?pageSize=200 HTTP/1.1\r\nHost: x\r\n\r\n');
          setTimeout(() => socket.destroy(), round);
        });
        socket.on('close', () => resolve());
      });
    }
    expect((await fetch(`${service.url}/api/health`)).status).toBe(200);
  });
});
