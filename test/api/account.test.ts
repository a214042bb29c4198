/** Keys, usage, plans and deliveries of identities that log in, on two API processes of one service. */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createKey, setTier } from '../../api/access/key-store.ts';
import { openSession } from '../../api/access/sessions.ts';
import { methodOf } from '../../api/http/route.ts';
import { routeTable } from '../../api/rest/route-table.ts';
import { schemaFaults } from './client.ts';
import { ALICE, CHAIN, type RunningService, startService } from './running-service.ts';
import type { SecondApi } from './start-second-api.ts';
import type { LooseJson } from './truth.ts';

const TIERS = {
  free: { creditsPerMinute: 1_000 },
  developer: { creditsPerMinute: 1_100 },
  pro: { creditsPerMinute: 200_000 },
};
const UNTIL_WRITTEN = { timeout: 60_000, interval: 250 };
const READ = '/api/market/protocol';

let service: RunningService;
let beside: SecondApi;
let alice: string;
beforeAll(async () => {
  service = await startService({ startHeight: 300, limits: { tiers: TIERS, keylessRequestsPerMinute: 100_000 } });
  await service.settled();
  beside = await service.startSecondApi();
  const { postgres } = service.stores;
  await setTier(postgres, { chain: CHAIN, identityAddress: ALICE }, 'pro');
  alice = (await openSession(postgres, { chain: CHAIN, identityAddress: ALICE })).token;
}, 600_000);
afterAll(async () => {
  await beside?.close();
  await service?.stop();
});

interface RequestInput {
  readonly method?: string;
  readonly body?: unknown;
  readonly port?: number;
}

async function ask(token: string, path: string, { method = 'GET', body, port = service.port }: RequestInput = {}) {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}` },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  const json: LooseJson = /^[{[]/.test(text) ? JSON.parse(text) : null;
  if (answer.ok && json !== null && method === 'GET') expect(schemaFaults(path.split('?')[0] ?? '', json)).toBeNull();
  return { status: answer.status, headers: answer.headers, text, body: json };
}

const issue = async (token: string, body: object = {}) =>
  (await ask(token, '/api/keys', { method: 'POST', body })).body as { id: string; key: string };

/** Usage of a key, summed over its rows of a step. */
async function usageOf(id: string, step = 'minute', by = 'key') {
  const { body } = await ask(alice, `/api/usage?step=${step}&by=${by}&key=${id}`);
  const sum = (name: string) => body.results.reduce((all: number, row: LooseJson) => all + row[name], 0);
  const [requests, credits] = [sum('requests'), sum('credits')];
  return { requests, credits, rateLimited: sum('rateLimited'), keyLimited: sum('keyLimited'), refused: sum('refused') };
}

/** Sends requests at once; returns how many were accepted, and how many were refused. */
async function flood(key: string, count: number, port: number, path = READ) {
  const statuses = await Promise.all(
    Array.from({ length: count }, async () => (await ask(key, path, { port })).status),
  );
  return {
    accepted: statuses.filter((status) => status === 200).length,
    refused: statuses.filter((status) => status === 429).length,
  };
}

describe('a key', () => {
  it('has an allowance of its own, over both processes, within that of the identity', async () => {
    const { id, key } = await issue(alice, { name: 'small', creditsPerMinute: 20 });
    const before = await ask(alice, '/api/usage/now');
    expect(before.body.keys).toContainEqual(expect.objectContaining({ id, creditsPerMinute: 20, remaining: 20 }));
    const [here, there] = await Promise.all([flood(key, 30, service.port), flood(key, 30, beside.port)]);
    const accepted = here.accepted + there.accepted;
    expect(accepted).toBeLessThanOrEqual(20);
    expect(accepted).toBeGreaterThan(10);
    const refused = await ask(key, READ);
    expect([refused.status, refused.headers.get('ratelimit-policy')]).toEqual([
      429,
      `"credits";q=${TIERS.pro.creditsPerMinute};w=60, "key";q=20;w=60`,
    ]);
    expect(refused.body.detail).toContain('20 credits of this key');
    await expect
      .poll(() => usageOf(id), UNTIL_WRITTEN)
      .toMatchObject({ credits: accepted, keyLimited: 60 - accepted + 1, rateLimited: 0 });
    expect((await ask((await issue(alice)).key, READ)).status).toBe(200); // another key of the identity still works
  });

  it('may have at most the credits of the tier', async () => {
    const answer = await ask(alice, '/api/keys', { method: 'POST', body: { creditsPerMinute: 200_001 } });
    expect(answer).toMatchObject({ status: 400, body: { errors: [{ pointer: '/creditsPerMinute' }] } });
  });

  it('keeps its id, name and allowance with a new secret, reports when it was used, and shows no secret twice', async () => {
    const { id, key } = await issue(alice, { name: 'kept', creditsPerMinute: 7 });
    await ask(key, READ);
    const again = await ask(alice, `/api/keys/${id}/regenerate`, { method: 'POST' });
    expect(again.body).toMatchObject({ id, name: 'kept', creditsPerMinute: 7 });
    expect(again.body.key).not.toBe(key);
    await expect.poll(async () => (await ask(key, READ)).status, UNTIL_WRITTEN).toBe(401);
    const listed = async () => (await ask(alice, '/api/keys')).body.keys.find((row: LooseJson) => row.id === id);
    await expect.poll(async () => (await listed()).lastUsedAt, UNTIL_WRITTEN).toMatch(/^20/);
    for (const path of ['/api/keys', '/api/usage', '/api/usage/now', '/api/usage/csv']) {
      const { text } = await ask(alice, path);
      for (const secret of [key, again.body.key]) expect(text).not.toContain(secret.slice(-64));
    }
  });
});

describe('usage', () => {
  it('is exactly what was accepted, by each step, route and process', async () => {
    const { id, key } = await issue(alice);
    await Promise.all([flood(key, 40, service.port), flood(key, 30, beside.port, '/api/blocks/1')]);
    await ask(key, '/api/no/such/path/at/all');
    const calls = JSON.stringify(Array(5).fill({ id: 1, method: 'getblockcount', params: [] }));
    const batch = { method: 'POST', headers: { authorization: `Bearer ${key}` }, body: calls };
    expect((await fetch(service.url, batch)).status).toBe(200);
    const weight = routeTable.find(({ path }) => path === '/api/blocks/:height')?.weight ?? 0;
    const credits = 40 + 30 * weight + 1 + 5;
    for (const step of ['minute', 'hour', 'day']) {
      await expect.poll(() => usageOf(id, step), UNTIL_WRITTEN).toMatchObject({ requests: 72, credits, refused: 0 });
    }
    for (const step of ['hour', 'day']) expect(await usageOf(id, step, 'route')).toMatchObject({ credits });
    const { body } = await ask(alice, `/api/usage?step=hour&by=route&key=${id}`);
    const byRoute = new Map(body.results.map((row: LooseJson) => [row.route, row.credits]));
    expect(byRoute).toEqual(
      new Map([
        [READ, 40],
        ['/api/blocks/:height', 30 * weight],
        ['none', 1],
        ['/rpc/:chain', 5],
      ]),
    );
    const csv = await ask(alice, `/api/usage/csv?step=hour&by=route&key=${id}`);
    expect(csv.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(csv.text.split('\r\n')[0]).toBe(
      'at,keyId,route,requests,credits,refused,rateLimited,keyLimited,tierRequired',
    );
    expect(csv.text.split('\r\n')).toHaveLength(body.results.length + 2);
    expect(await ask(alice, '/api/usage?by=route')).toMatchObject({ status: 400 });
  });

  it('refunds requests that failed through a fault of the service', async () => {
    const { id, key } = await issue(alice);
    service.node.setFaults({ wrongAuth: true });
    expect((await ask(key, '/api/blocks/5/raw')).status).toBe(502);
    service.node.setFaults({});
    expect((await ask(key, READ)).status).toBe(200);
    await expect.poll(() => usageOf(id), UNTIL_WRITTEN).toMatchObject({ requests: 2, credits: 1 });
  });

  it('loses nothing when a process ends', async () => {
    const { id, key } = await issue(alice);
    const ended = await service.startSecondApi();
    expect(await flood(key, 25, ended.port)).toMatchObject({ accepted: 25 });
    await ended.close();
    expect(await usageOf(id)).toMatchObject({ credits: 25 });
  });
});

describe('a plan', () => {
  const planOf = (calls: object[]) => ask(alice, '/api/usage/plan', { method: 'POST', body: { calls } });

  it('costs what the gate charges', async () => {
    const calls = [
      { path: '/api/oracle/prices/VRSCTEST', perSecond: 20 },
      { path: '/api/conversions/', perMinute: 1 },
      { rpc: 'getblock', perMinute: 2 },
    ];
    const { status, body } = await planOf(calls);
    expect(status).toBe(200);
    const { key } = await issue(alice);
    const charged = async (path: string) => Number((await ask(key, path)).headers.get('x-credits-cost'));
    const price = await charged('/api/oracle/prices/VRSCTEST');
    const list = await charged('/api/conversions/');
    expect(body.calls.map((call: LooseJson) => call.creditsPerMinute)).toEqual([20 * 60 * price, list, 10]);
    expect(body.creditsPerMinute).toBe(1_200 * price + list + 10);
    expect(body.tiers.map(({ fits, lacks }: LooseJson) => [fits, lacks])).toEqual([
      [false, 'credits'],
      [false, 'credits'],
      [true, null],
    ]);
    const estimate = await planOf([{ path: '/api/market/estimate', perMinute: 1 }]);
    expect(estimate.body).toMatchObject({
      withoutKey: false,
      tiers: [{ lacks: 'tier' }, { fits: true }, { fits: true }],
    });
  });

  it.each([
    [{ path: '/api/nowhere', perMinute: 1 }, '/calls/0/path'],
    [{ rpc: 'stop', perMinute: 1 }, '/calls/0/rpc'],
    [{ path: '/api/', rpc: 'getinfo', perMinute: 1 }, '/calls/0'],
    [{ path: '/api/' }, '/calls/0'],
    [{ path: '/api/', perMinute: 1, perSecond: 1 }, '/calls/0'],
  ])('%j is refused at %s', async (call, pointer) => {
    expect(await planOf([call])).toMatchObject({ status: 400, body: { errors: [{ pointer }] } });
  });
});

it('a delivery is shown completely to its owner, who can redrive all failed ones', async () => {
  const hook = { url: 'https://hooks.example/alice', events: ['block'] };
  const made = (await ask(alice, '/api/webhooks', { method: 'POST', body: hook })).body;
  const deliveryId = `msg_${'a'.repeat(32)}`;
  await service.stores.postgres.pool.query(
    `INSERT INTO webhook_deliveries (id, webhook_id, kind, body, state, answer) VALUES ($1, $2, 'test', '{"of":"alice"}', 'failed', 'for alice')`,
    [deliveryId, made.id],
  );
  const shown = await ask(alice, `/api/webhooks/${made.id}/deliveries/${deliveryId}`);
  expect(shown.body).toMatchObject({ body: '{"of":"alice"}', answer: 'for alice', answerCut: false, latencyMs: null });
  const redriven = await ask(alice, `/api/webhooks/${made.id}/redrive`, { method: 'POST' });
  expect(redriven.body).toEqual({ redriven: 1, more: false });
  expect((await ask(alice, `/api/webhooks/${made.id}/redrive`, { method: 'POST' })).body.redriven).toBe(0);
});

describe('cursors', () => {
  const withCursor = routeTable.filter((route) => 'parameters' in route && 'cursor' in route.parameters);
  /** Parameters of paths, so that the cursor is read. */
  const FILLED: Readonly<Record<string, string>> = {
    nameOrId: 'alice@',
    address: ALICE,
    currency: 'VRSCTEST',
    height: '200',
  };

  it.each(withCursor.map(({ path }) => path))(
    '%s refuses cursors that it has not issued, whatever they contain',
    async (path) => {
      const at = path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(FILLED[name] ?? 'VRSCTEST'));
      const text = fc.string({ unit: fc.constantFrom('\0', 'a', '/', 'ä', '\ud83d\ude00', '"', '\\') });
      const encoded = text.map((held) => Buffer.from(held).toString('base64url'));
      const asList = fc
        .array(fc.oneof(text, fc.integer()), { maxLength: 8 })
        .map((held) => Buffer.from(JSON.stringify([1, ...held])).toString('base64url'));
      const asPlace = fc.tuple(fc.nat(), fc.nat(), encoded).map((parts) => parts.join('.'));
      const cursors = fc.oneof(encoded, asList, asPlace, fc.constant('1.1.AA'));
      await fc.assert(
        fc.asyncProperty(cursors, async (cursor) => {
          const { status, text: said } = await ask(alice, `${at}?cursor=${encodeURIComponent(cursor)}`);
          expect(status, said).toBeLessThan(500);
        }),
        { numRuns: 30, examples: [['1.1.AA']] },
      );
    },
  );
});

it('each path of an account accepts the credentials that the OpenAPI document names, and no others', async () => {
  const holder = { chain: CHAIN, identityAddress: ALICE };
  const { postgres } = service.stores;
  const { key = '' } = (await createKey(postgres, holder, 'of the document')) ?? {};
  const document = (await (await fetch(`${service.url}/api/openapi.json`)).json()) as LooseJson;
  const credentials: Readonly<Record<string, () => Promise<Record<string, string>>>> = {
    none: async () => ({}),
    key: async () => ({ authorization: `Bearer ${key}` }),
    keyHeader: async () => ({ 'x-api-key': key }),
    // The session before may have been ended by the request made with it.
    session: async () => ({ authorization: `Bearer ${(await openSession(postgres, holder)).token}` }),
  };
  const ofAccounts = routeTable.filter(({ path }) => /^\/api\/(auth|keys|usage|webhooks)/.test(path));
  expect(ofAccounts.length).toBeGreaterThan(15);
  for (const route of ofAccounts) {
    const method = methodOf(route);
    const { security } = document.paths[route.path.replace(/:(\w+)/g, '{$1}')][method.toLowerCase()];
    const named = security.map((one: object) => Object.keys(one)[0] ?? 'none');
    const path = route.path.replace(':deliveryId', '1').replace(':id', '0123456789abcdef');
    const taken: string[] = [];
    for (const [name, headersOf] of Object.entries(credentials)) {
      const body = route.cache === 'none' && route.body ? { body: '{}' } : {};
      const { status } = await fetch(`${service.url}${path}`, { method, headers: await headersOf(), ...body });
      if (status !== 401 && status !== 403) taken.push(name);
    }
    expect([method, route.path, taken]).toEqual([method, route.path, expect.arrayContaining(named)]);
    expect([method, route.path, named]).toEqual([method, route.path, expect.arrayContaining(taken)]);
  }
});
