/** REST conventions, and lists that are walked while blocks come and a reorganisation passes. */
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createClient } from './client.ts';
import { CHAIN, type RunningService, startService } from './running-service.ts';
import type { LooseJson } from './truth.ts';

let service: RunningService;
const client = createClient(() => service.url);
const BEFORE_FORK = 15;
const FORK = 845;

beforeAll(async () => {
  service = await startService({ startHeight: FORK - BEFORE_FORK });
  await service.settled();
}, 300_000);

afterAll(() => service?.stop());

async function problem(path: string, init?: RequestInit): Promise<LooseJson> {
  const answer = await client.raw(path, init);
  const body: LooseJson = await answer.json();
  expect(answer.headers.get('content-type')).toBe('application/problem+json');
  expect(body).toMatchObject({ status: answer.status, error: body.detail });
  for (const member of ['type', 'title', 'detail', 'instance', 'code'])
    expect(typeof body[member], member).toBe('string');
  expect(answer.headers.get('x-request-id')).toBe(body.instance);
  return body;
}

describe('errors', () => {
  const zero = '0'.repeat(64);
  it.each([
    ['/api/nosuch', 404, 'not_found'],
    ['/api/blocks/99999999', 404, 'not_found'],
    ['/api/blocks/abc', 400, 'invalid_parameter'],
    ['/api/blocks/-1', 400, 'invalid_parameter'],
    ['/api/blocks/1e2', 400, 'invalid_parameter'],
    ['/api/blocks/0x10', 400, 'invalid_parameter'],
    ['/api/blocks/?chain=nope', 400, 'invalid_parameter'],
    ['/api/blocks/?page=0', 400, 'invalid_parameter'],
    ['/api/blocks/?page=x', 400, 'invalid_parameter'],
    ['/api/blocks/?page=1%00', 400, 'invalid_parameter'],
    ['/api/blocks/?page=%201', 400, 'invalid_parameter'],
    ['/api/blocks/?page=1&page=2', 400, 'invalid_parameter'],
    ['/api/blocks/?pageSize=', 400, 'invalid_parameter'],
    ['/api/blocks/?colour=red', 400, 'invalid_parameter'],
    ['/api/blocks/?page=1000&pageSize=200', 400, 'page_too_deep'],
    ['/api/blocks/?cursor=garbage', 400, 'cursor_invalid'],
    ['/api/blocks/?__proto__=1', 400, 'invalid_parameter'],
    ['/api/tx/zz', 400, 'invalid_parameter'],
    [`/api/tx/${zero}`, 404, 'not_found'],
    [`/api/tx/${zero}/raw`, 404, 'not_found'],
    ['/api/address/nonsense', 400, 'invalid_parameter'],
    ['/api/identity/nosuchname@', 404, 'not_found'],
    ['/api/identity/bob@%00', 400, 'invalid_parameter'],
    ['/api/identity/%ff', 400, 'invalid_request'],
    ['/api/identity/bob@?key=a::b::c', 400, 'invalid_parameter'],
    ['/api/currency/nosuchcurrency', 404, 'not_found'],
    ['/api/oracle/prices/nosuchcurrency', 404, 'not_found'],
    ['/api/conversions/?status=lost', 400, 'invalid_parameter'],
    ['/api/conversions/?fromTime=2026-99-99', 400, 'invalid_parameter'],
    ['/api/conversions/?fromTime=2026-02-30', 400, 'invalid_parameter'],
    ['/api/market/baskets/usdx/volume', 404, 'not_found'],
    ['/api/ws', 400, 'invalid_request'],
    ['/api/ws/', 400, 'invalid_request'],
    ['/api/stats/charts', 400, 'invalid_parameter'],
    ['/api/stats/charts?metric=difficulty&period=13x', 400, 'invalid_parameter'],
    ['/api/search/?q=', 400, 'invalid_parameter'],
    ['/api/search/?q=%20', 400, 'invalid_parameter'],
    [`/api/search/?q=${'x'.repeat(81)}`, 400, 'invalid_parameter'],
  ])('%s is %i %s', async (path, status, code) => {
    expect(await problem(path)).toMatchObject({ status, code });
  });

  it('names what is allowed and points at what is not', async () => {
    const body = await problem('/api/blocks/?colour=red&pageSize=0');
    expect(body.errors.map(({ pointer }: LooseJson) => pointer).sort()).toEqual(['/colour', '/pageSize']);
    expect(body.detail).toContain('allowed are fromHeight, toHeight, chain, validationType, page, pageSize, cursor');
  });

  it.each(['POST', 'PUT', 'DELETE', 'PATCH'])('%s is refused with Allow', async (method) => {
    expect((await client.raw('/api/blocks/', { method })).headers.get('allow')).toContain('GET');
    expect(await problem('/api/blocks/', { method })).toMatchObject({ status: 405, code: 'method_not_allowed' });
  });

  it('accepts the request id of the caller if it is valid', async () => {
    const given = await client.raw('/api/health', { headers: { 'X-Request-Id': 'abc-123' } });
    expect(given.headers.get('x-request-id')).toBe('abc-123');
    const odd = await client.raw('/api/health', { headers: { 'X-Request-Id': 'a b' } });
    expect(odd.headers.get('x-request-id')).not.toBe('a b');
  });
});

describe('conventions', () => {
  it.each(['/api', '/api/blocks', '/api/stats', '/api/identity', '/api/conversions', '/api/stakes'])(
    '%s with and without the slash',
    async (path) => {
      expect([await client.status(path), await client.status(`${path}/`)]).toEqual([200, 200]);
    },
  );

  it('answers HEAD without a body, preflights, and any origin', async () => {
    const head = await client.raw('/api/blocks/', { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
    expect(Number(head.headers.get('content-length'))).toBeGreaterThan(1000);
    const preflight = await client.raw('/api/blocks/', { method: 'OPTIONS' });
    expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([204, '*']);
    expect((await client.raw('/api/nosuch')).headers.get('access-control-allow-origin')).toBe('*');
  });

  it('takes the chain in any case', async () => {
    expect((await client.json('/api/blocks/?chain=VRSC&pageSize=1')).results[0].chain).toBe(CHAIN);
  });

  it('answers 304 to a client that has the state already, on weight 1 and 2 alike', async () => {
    for (const path of ['/api/oracle/prices', '/api/blocks/5', '/api/search/?q=5']) {
      const etag = (await client.raw(path)).headers.get('etag') ?? '';
      expect(etag).toMatch(/^"[\w-]+"$/);
      for (const sent of [etag, `"other", W/${etag}`, '*']) {
        const again = await client.raw(path, { headers: { 'If-None-Match': sent } });
        expect([again.status, await again.text(), again.headers.get('etag')]).toEqual([304, '', etag]);
        expect(again.headers.get('cache-control')).toBe('public, no-cache');
        expect(again.headers.get('vary')).toContain('Accept-Encoding');
      }
      expect((await client.raw(path, { headers: { 'If-None-Match': '"other"' } })).status).toBe(200);
    }
    // `*` matches whatever exists, and nothing does.
    for (const path of ['/api/blocks/99999999', '/api/identity/nosuchname@', '/api/currency/nosuchcurrency'])
      expect(await client.status(path, { headers: { 'If-None-Match': '*' } })).toBe(404);
  });

  it('serves JSON-RPC by path and by host', async () => {
    const body = '{"id":"x","method":"getblockcount","params":[]}';
    const wanted = `{"result":${service.node.height},"error":null,"id":"x"}\n`;
    for (const path of ['/', '/rpc/vrsc', '/rpc/vrsc/', '/rpc/VRSC']) {
      expect(await (await client.raw(path, { method: 'POST', body })).text()).toBe(wanted);
    }
    expect(await client.status('/rpc/nochain', { method: 'POST', body })).toBe(404);
    expect(await client.status('/rpc/vrsc')).toBe(405);
    const to = async (host: string) => {
      const socket = connect(service.port, '127.0.0.1');
      socket.write(
        `POST / HTTP/1.1\r\nHost: ${host}\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
      );
      return Number((await text(socket)).slice(9, 12));
    };
    expect([
      await to('VRSC.rpc.example.org'),
      await to('rpc.example.org'),
      await to('nochain.rpc.example.org'),
    ]).toEqual([200, 200, 404]);
  });

  it('shares its port with no other process', async () => {
    await expect(service.startAnother({ port: service.port })).rejects.toMatchObject({ code: 'port_unavailable' });
  });

  it('counts and pages', async () => {
    const total = service.node.height + 1;
    const first = await client.json('/api/blocks/');
    expect([first.page, first.pageSize, first.results.length, first.total]).toEqual([1, 25, 25, total]);
    expect((await client.json('/api/blocks/?pageSize=1000')).pageSize).toBe(200);
    const second = await client.json('/api/blocks/?page=2&pageSize=10');
    expect(second.results[0].height).toBe(service.node.height - 10);
    expect((await client.json('/api/blocks/?page=40&pageSize=200')).results).toEqual([]);
    expect(await problem(`/api/blocks/?page=1&cursor=${first.nextCursor}`)).toMatchObject({
      code: 'invalid_parameter',
    });
    expect(await problem(`/api/stakes/?cursor=${first.nextCursor}`)).toMatchObject({ code: 'cursor_invalid' });
  });
});

describe('while the chain moves', () => {
  it('continues by cursor without repeating or skipping a block', async () => {
    const page = await client.json('/api/blocks/?pageSize=10');
    const first = page.results.map((row: LooseJson) => row.height);
    for (let step = 0; step < 3; step++) service.node.step();
    await service.settled();
    const next = await client.json(`/api/blocks/?pageSize=10&cursor=${page.nextCursor}`);
    expect(next.results[0].height).toBe(first.at(-1) - 1);
    expect((await client.json('/api/blocks/?pageSize=1')).results[0].height).toBe(first[0] + 3);
  });

  it('changes the ETag with every block', async () => {
    const before = (await client.raw('/api/blocks/5')).headers.get('etag');
    service.node.step();
    await service.settled();
    await expect.poll(async () => (await client.raw('/api/blocks/5')).headers.get('etag')).not.toBe(before);
  });

  it('answers 409 once the block at the cursor is gone, with a cursor to continue', async () => {
    while (service.node.height <= FORK + 4) service.node.step();
    await service.settled(true);
    const prices = '/api/oracle/prices/usdx/history?limit=1';
    const [orphanPrice, orphanMinutes] = [await client.json(prices), await client.json(`${prices}&interval=5m`)];
    const orphan = await client.json('/api/blocks/?pageSize=2');
    const below = await client.json(`/api/blocks/?pageSize=8`);
    expect(orphan.results[1].height).toBeGreaterThan(FORK);
    const hashes = new Map(below.results.map((row: LooseJson) => [row.height, row.hash]));
    await switchBranch(orphan.results[1]);
    await service.settled(true);

    const refused = await problem(`/api/blocks/?pageSize=2&cursor=${orphan.nextCursor}`);
    expect(refused).toMatchObject({ status: 409, code: 'cursor_rewound', height: orphan.results[1].height - 1 });
    const on = await client.json(`/api/blocks/?pageSize=2&cursor=${refused.nextCursor}`);
    expect(on.results[0].height).toBe(refused.height);
    expect(on.results[0].hash).not.toBe(hashes.get(refused.height));

    const refusedPrice = await problem(`${prices}&cursor=${orphanPrice.nextCursor}`);
    expect(refusedPrice).toMatchObject({ status: 409, code: 'cursor_rewound' });
    const { data } = await client.json(`${prices}&cursor=${refusedPrice.nextCursor}`);
    expect(data[0].blockHeight).toBe(orphanPrice.data[0].blockHeight - 1);
    const refusedMinutes = await problem(`${prices}&interval=5m&cursor=${orphanMinutes.nextCursor}`);
    expect(refusedMinutes).toMatchObject({ status: 409, height: refusedPrice.height });
    const again = await client.json(`${prices}&interval=5m&cursor=${refusedMinutes.nextCursor}`);
    expect(again.data[0].blockHeight).toBeGreaterThanOrEqual(refusedMinutes.height);

    // A cursor below the fork is still valid.
    const kept = await client.json(`/api/blocks/?pageSize=3&cursor=${below.nextCursor}`);
    expect(kept.results[0].height).toBe(below.results.at(-1).height - 1);
  });

  /** Steps until the block of the abandoned branch is replaced by another one of its height. */
  async function switchBranch(abandoned: LooseJson): Promise<void> {
    for (let step = 0; step < 40; step++) {
      service.node.step();
      await service.settled();
      const now = await client.raw(`/api/blocks/${abandoned.height}`);
      if (now.status === 200 && ((await now.json()) as LooseJson).hash !== abandoned.hash) return;
    }
    throw new Error('the recording has no reorganisation here');
  }

  it('keeps answering while blocks arrive', async () => {
    let done = false;
    const walks = Promise.all(
      Array.from({ length: 4 }, async () => {
        const seen: number[] = [];
        while (!done) {
          const { results } = await client.json('/api/blocks/?pageSize=5');
          const heights = results.map((row: LooseJson) => row.height);
          expect(heights).toEqual(heights.map((_: number, index: number) => heights[0] - index));
          seen.push(heights[0]);
        }
        return seen;
      }),
    );
    for (let step = 0; step < 5; step++) {
      service.node.step();
      await service.settled();
    }
    done = true;
    for (const seen of await walks) expect(seen).toEqual([...seen].sort((a, b) => a - b));
  });
});

describe('the guard over prices', () => {
  it('shows what feeds report of a price, and publishes the last good one instead of a rejected one', async () => {
    const [price] = await client.json('/api/oracle/prices');
    const path = `/api/oracle/prices/${price.currencyId}`;
    const unguarded = await client.json(path);
    expect(Object.values(unguarded.guardRail)).toEqual([null, null, null, null, null]);
    const published = { tier: 1, usdPrice: '8', emaPrice: '7', totalDepth: '60000', sourceBasket: null, baskets: [] };
    await service.stores.postgres.pool.query(
      `INSERT INTO price_guards VALUES ($1, 16, 'feed.example', to_timestamp(1600000000), 50, 'rejected', $2)`,
      [price.currencyId, JSON.stringify({ ...published, height: price.sourceBlock, time: 1_500_000_000 })],
    );
    await service.stores.postgres.pool.query(`INSERT INTO stage_positions VALUES ('price_guard', '*', 0, 0, '', 0)`);
    await expect
      .poll(() => client.json(path))
      .toMatchObject({
        currentPrice: { usdPrice: 8, emaPrice: 7, status: 'rejected', totalDepth: 60000, sourceBasket: null },
        liveCalculation: { weightedPrice: unguarded.liveCalculation.weightedPrice },
        guardRail: {
          externalPrice: 16,
          deviationPct: 50,
          status: 'rejected',
          source: 'feed.example',
          checkedAt: '2020-09-13T12:26:40.000Z',
        },
      });
    // While blocks come fast, a prepared answer may be a second old.
    const rejected = { currencyId: price.currencyId, usdPrice: 8, status: 'rejected' };
    await expect.poll(() => client.json('/api/oracle/prices')).toContainEqual(expect.objectContaining(rejected));
    await service.stores.postgres.pool.query('DELETE FROM price_guards');
    await service.stores.postgres.pool.query(`UPDATE stage_positions SET position = 1 WHERE stage = 'price_guard'`);
  });
});

describe('stats', () => {
  it('follow the daemon while the index does not move, and so does their ETag', async () => {
    const { pool } = service.stores.postgres;
    const before = await client.raw('/api/stats/');
    const { height } = (await before.json()) as LooseJson;
    const etag = before.headers.get('etag') ?? '';
    const daemon = JSON.stringify({ targetHeight: height + 700 });
    // The running stage reports, too, and then overwrites this status.
    const moveAndAsk = async (): Promise<LooseJson> => {
      await pool.query(`UPDATE stage_status SET status = status || $1 WHERE stage = 'tail'`, [daemon]);
      const answer = await client.raw('/api/stats/', { headers: { 'If-None-Match': etag } });
      return answer.status === 304
        ? null
        : { ...((await answer.json()) as LooseJson), etag: answer.headers.get('etag') };
    };
    const expectedSync = { height: height + 700, indexedHeight: height, synced: false };
    await expect
      .poll(moveAndAsk)
      .toEqual(expect.objectContaining({ ...expectedSync, etag: expect.not.stringMatching(etag) }));
  });

  it('know no height, and are not synced, until the daemon was asked', async () => {
    // The running stage reports too: the row is away until it does.
    const forgetAndAsk = async (): Promise<LooseJson> => {
      await service.stores.postgres.pool.query(`DELETE FROM stage_status WHERE stage = 'tail'`);
      return client.json('/api/stats/');
    };
    await expect.poll(forgetAndAsk).toMatchObject({ height: null, synced: false });
  });
});

describe('health', () => {
  it('is ready while the chain moves, and not when a stage stops', async () => {
    // On a busy machine a stage may be late for a moment, also between two requests.
    const both = async () => [await client.status('/api/health/ready'), await client.json('/api/health')];
    await expect.poll(both).toEqual([200, { status: 'ok' }]);
    const status = { state: 'stopped', height: 1, targetHeight: 9, rate: 0, etaSeconds: null, movedAt: null };
    const error = { code: 'log_gap', message: 'position 7 is missing' };
    // The running stage reports, too, and then overwrites this status.
    const stopAndAsk = async (): Promise<number> => {
      await service.stores.postgres.pool.query(
        `INSERT INTO stage_status VALUES ('price', $1, $2, now())
         ON CONFLICT (stage, chain) DO UPDATE SET status = EXCLUDED.status`,
        [CHAIN, JSON.stringify({ ...status, error })],
      );
      return client.status('/api/health/ready');
    };
    await expect.poll(stopAndAsk).toBe(503);
  });
});
