/** Keys, tiers, limits and usage over HTTP, on two API processes of one service: the test's own and a second one. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { setTier } from '../../api/access/key-store.ts';
import { openSession } from '../../api/access/sessions.ts';
import { newId, newKey } from '../../api/access/tokens.ts';
import type { RunningApi } from '../../api/server.ts';
import { createSigningIdentity } from '../support/recordings/player/signing-identity.ts';
import { schemaFaults } from './client.ts';
import { ALICE, CHAIN, NATIVE, type RunningService, startService } from './running-service.ts';

/** frank@ of the recording, revoked. */
const FRANK = 'iJTXkADsq64gCcSYdGXgHHJyLrfH6p7Fq5';
const TIERS = { free: { creditsPerMinute: 60 }, developer: { creditsPerMinute: 150 }, pro: { creditsPerMinute: 500 } };

let service: RunningService;
let beside: RunningApi;
let token: string;
beforeAll(async () => {
  service = await startService({ limits: { tiers: TIERS, keylessRequestsPerMinute: 1_000 } });
  await service.settled();
  beside = await service.startSecondApi();
  ({ token } = await openSession(service.stores.postgres, { chain: CHAIN, identityAddress: ALICE }));
}, 600_000);
afterAll(async () => {
  await beside?.close();
  await service?.stop();
});

type Headers = Readonly<Record<string, string>>;

async function ask(path: string, init: RequestInit = {}, port = service.port) {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, init);
  const text = await response.text();
  const body = text.startsWith('{') ? JSON.parse(text) : null;
  return { status: response.status, body, text, headers: response.headers };
}
const post = (path: string, body: unknown, headers: Headers = {}) =>
  ask(path, { method: 'POST', headers, ...(body !== undefined && { body: JSON.stringify(body) }) });
const asAlice = () => ({ authorization: `Bearer ${token}` });
const withKey = (key: string) => ({ headers: { authorization: `Bearer ${key}` } });
const issue = async () => (await post('/api/keys', { name: 'bot' }, asAlice())).body as { id: string; key: string };

/** Waits until the key is refused: within a second, or a few on a slow machine. */
async function refusedOn(port: number, key: string): Promise<void> {
  const until = performance.now() + 60_000;
  for (;;) {
    const { status } = await ask('/api/market/protocol', withKey(key), port);
    if (status === 401) return;
    expect(status).toBe(200);
    expect(performance.now()).toBeLessThan(until);
    await sleep(10);
  }
}

describe('login', () => {
  it('accepts only a signature of the identity, and only once', async () => {
    const { body, status } = await post('/api/auth/challenge', { identity: 'alice@', chain: 'VRSC' });
    expect(status).toBe(200);
    expect(schemaFaults('/api/auth/challenge', body)).toBeNull();
    expect(body.command).toBe(`signmessage "${ALICE}" "${body.message}"`);
    // Her name with the keys of another: the node recovers the signer.
    const forger = createSigningIdentity({ systemId: NATIVE, identityaddress: ALICE });
    const login = { challengeId: body.challengeId, signature: await forger.sign(body.message, service.node.height) };
    expect(await post('/api/auth/login', login)).toMatchObject({ status: 401, body: { code: 'login_refused' } });
    expect(await post('/api/auth/login', login)).toMatchObject({ status: 401, body: { code: 'login_refused' } });
  });

  it.each([
    [403, 'identity_revoked', { identity: FRANK }],
    [404, 'not_found', { identity: 'nosuch@' }],
    [400, 'invalid_parameter', { identity: 'alice@', chain: 'nochain' }],
    [400, 'invalid_parameter', {}],
    [400, 'invalid_parameter', { identity: 'alice@', password: 'x' }],
  ])('%i %s for %j', async (status, code, body) => {
    expect(await post('/api/auth/challenge', body)).toMatchObject({ status, body: { code } });
  });

  it('reads bodies strictly', async () => {
    const send = (body: string) => ask('/api/auth/login', { method: 'POST', body });
    expect(await send('{')).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
    expect(await send(`"${'x'.repeat(100_000)}"`)).toMatchObject({ status: 413, body: { code: 'payload_too_large' } });
    const wrong = await ask('/api/auth/login');
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'POST, OPTIONS']);
  });

  it('a session reports its identity, and ends', async () => {
    const { token: other } = await openSession(service.stores.postgres, { chain: CHAIN, identityAddress: ALICE });
    const headers = { authorization: `Bearer ${other}` };
    const { body } = await ask('/api/auth/session', { headers });
    expect(body).toMatchObject({ identity: 'alice.VRSCTEST@', identityAddress: ALICE, chain: CHAIN, tier: 'free' });
    expect(schemaFaults('/api/auth/session', body)).toBeNull();
    expect((await post('/api/auth/logout', undefined, headers)).status).toBe(204);
    expect(await ask('/api/auth/session', { headers })).toMatchObject({
      status: 401,
      body: { code: 'session_required' },
    });
  });
});

describe('keys', () => {
  it('are shown once, kept as digests, listed without their secret', async () => {
    const { id, key } = await issue();
    expect(key).toMatch(/^vst_[0-9a-f]{16}_[0-9a-f]{64}$/);
    const { body, text } = await ask('/api/keys', { headers: asAlice() });
    expect(schemaFaults('/api/keys', body)).toBeNull();
    expect(body.keys.map((row: { id: string }) => row.id)).toContain(id);
    expect(text).not.toContain(key.slice(-64));
    for (const table of ['api_keys', 'sessions', 'account_usage']) {
      const { rows } = await service.stores.postgres.pool.query(`SELECT t::text AS row FROM ${table} t`);
      expect(JSON.stringify(rows)).not.toContain(key.slice(-64));
      expect(JSON.stringify(rows)).not.toContain(token);
    }
  });

  it('revoked or regenerated, are refused within a second on every process', async () => {
    for (const end of ['DELETE', 'POST'] as const) {
      const { id, key } = await issue();
      for (const port of [service.port, beside.port]) {
        expect((await ask('/api/market/protocol', withKey(key), port)).status).toBe(200);
      }
      const path = end === 'DELETE' ? `/api/keys/${id}` : `/api/keys/${id}/regenerate`;
      const ended = await ask(path, { method: end, headers: asAlice() });
      expect(ended.status).toBe(end === 'DELETE' ? 204 : 200);
      await Promise.all([service.port, beside.port].map((port) => refusedOn(port, key)));
      if (end === 'POST') expect((await ask('/api/market/protocol', withKey(ended.body.key))).status).toBe(200);
    }
  });

  it('of a revoked identity are refused, and so are its sessions', async () => {
    const { pool } = service.stores.postgres;
    const { key, id } = await issue();
    await pool.query('UPDATE api_keys SET identity_address = $2 WHERE id = $1', [id, FRANK]);
    expect(await ask('/api/market/protocol', withKey(key))).toMatchObject({
      status: 401,
      body: { code: 'key_invalid' },
    });
    const { token: franks } = await openSession(service.stores.postgres, { chain: CHAIN, identityAddress: FRANK });
    expect((await ask('/api/keys', { headers: { authorization: `Bearer ${franks}` } })).status).toBe(401);
  });

  it('belong to their identity alone', async () => {
    const { id } = await issue();
    const { rows } = await service.stores.postgres.pool.query<{ identity_address: string }>(
      'SELECT identity_address FROM identities WHERE to_height IS NULL AND flags = 0 AND identity_address <> $1 LIMIT 1',
      [ALICE],
    );
    const holder = { chain: CHAIN, identityAddress: rows[0]?.identity_address ?? '' };
    const { token: stranger } = await openSession(service.stores.postgres, holder);
    const headers = { authorization: `Bearer ${stranger}` };
    expect((await ask(`/api/keys/${id}`, { method: 'DELETE', headers })).status).toBe(404);
    expect((await ask(`/api/keys/${id}/regenerate`, { method: 'POST', headers })).status).toBe(404);
    expect((await ask('/api/keys', { headers })).body.keys).toEqual([]);
  });

  it('may accompany a session: the session determines the account, the key pays', async () => {
    const { key } = await issue();
    const { headers } = await ask('/api/auth/session', { headers: { ...asAlice(), 'x-api-key': key } });
    expect(headers.get('ratelimit-policy')).toMatch(/^"credits";q=\d+;w=60$/); // a keyless one has "requests" too
    expect((await ask('/api/auth/session', { headers: { ...asAlice(), 'x-api-key': 'vst_nothing' } })).status).toBe(
      401,
    );
  });

  it('that are wrong get 401, in either header; Basic credentials of daemon clients are ignored', async () => {
    for (const headers of [{ authorization: 'Bearer vst_nothing' }, { 'x-api-key': 'vst_nothing' }]) {
      expect(await ask('/api/market/protocol', { headers })).toMatchObject({
        status: 401,
        body: { code: 'key_invalid' },
      });
    }
    const call = { method: 'POST', body: '{"id":1,"method":"getblockcount"}' };
    expect((await ask('/', { ...call, headers: { authorization: 'Basic dTpw' } })).status).toBe(200);
    expect((await ask('/', { ...call, headers: { authorization: 'Bearer vst_nothing' } })).status).toBe(401);
  });
});

describe('tiers', () => {
  const estimate = '/api/market/estimate?from=VRSCTEST&to=PureTri&amount=0';

  it('allow estimates from developer on; a new tier counts at once', async () => {
    const { key } = await issue();
    expect(await ask(estimate)).toMatchObject({ status: 403, body: { code: 'tier_required' } });
    await setTier(service.stores.postgres, { chain: CHAIN, identityAddress: ALICE }, 'free');
    expect(await ask(estimate, withKey(key))).toMatchObject({ status: 403, body: { code: 'tier_required' } });
    expect((await ask(estimate, withKey('vst_nothing'))).status).toBe(401);
    await setTier(service.stores.postgres, { chain: CHAIN, identityAddress: ALICE }, 'developer');
    const estimated = async () => {
      const { status, headers } = await ask(estimate, withKey(key)); // amount 0 is invalid, but the request has passed the tier check
      return [status, headers.get('x-ratelimit-limit'), headers.get('ratelimit-policy')];
    };
    await expect.poll(estimated, { interval: 10 }).toEqual([400, '150', '"credits";q=150;w=60']);
    const { status, headers } = await ask(estimate, { headers: asAlice() });
    expect([status, headers.get('ratelimit-policy')]).toEqual([400, '"credits";q=150;w=60']);
  });
});

describe('limits', () => {
  it('are the credits of the identity over all keys and processes; a batch counts as one sum; failures cost nothing', async () => {
    await setTier(service.stores.postgres, { chain: CHAIN, identityAddress: ALICE }, 'pro');
    const [{ key }, { key: other }] = [await issue(), await issue()];
    const remaining = async (path = '/api/health') => {
      const { headers } = await ask(path, withKey(key));
      return Number(headers.get('x-ratelimit-remaining'));
    };
    const before = await remaining();
    service.node.setFaults({ wrongAuth: true });
    const failed = await ask('/api/blocks/5/raw', withKey(key));
    expect(failed).toMatchObject({ status: 502, body: { code: 'daemon_error' } });
    service.node.setFaults({});
    expect(failed.headers.get('x-credits-cost')).toBe('5');
    expect(await remaining()).toBe(before - 1);
    const batch = {
      method: 'POST',
      body: JSON.stringify(Array(5).fill({ id: 1, method: 'getblockcount', params: [] })),
    };
    await ask('/', { ...batch, ...withKey(other) });
    expect(await remaining()).toBe(before - 1 - 5 - 1);

    let passed = 0;
    const raw = JSON.stringify(Array(5).fill({ id: 7, method: 'getinfo', params: [] }));
    const flood = async (port: number) => {
      for (let n = 0; n < 30; n += 1) {
        const { status, text, headers } = await ask('/', { method: 'POST', body: raw, ...withKey(other) }, port);
        if (status === 200) passed += 25;
        else {
          expect(text).toBe('{"result":null,"error":{"code":-32005,"message":"Too many requests"},"id":null}\n');
          expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
        }
      }
    };
    await Promise.all([flood(service.port), flood(beside.port)]);
    expect(passed).toBeLessThanOrEqual(TIERS.pro.creditsPerMinute);
    // A tenth may be reserved in parts, and a batch passes completely or not at all; credits used a minute ago are back.
    expect(passed).toBeGreaterThan(before - 1 - 5 - 1 - 50 - 25);
  });

  it('usage is answered for any span that can be requested', async () => {
    const { status, body } = await ask('/api/usage?from=0&to=999999999999', { headers: asAlice() });
    expect([status, schemaFaults('/api/usage', body)]).toEqual([200, null]);
    const spans = [
      ['step=day&from=43200&to=43200', 200, undefined],
      ['step=day&from=86400&to=86400', 400, '/from'],
    ] as const;
    for (const [span, expected, pointer] of spans) {
      const answer = await ask(`/api/usage?${span}`, { headers: asAlice() });
      expect([span, answer.status, answer.body.errors?.[0]?.pointer]).toEqual([span, expected, pointer]);
    }
    const refused = await ask('/api/usage?to=264026901282814', { headers: asAlice() });
    expect([refused.status, refused.body.code]).toEqual([400, 'invalid_parameter']);
  });

  it('usage reports where its limit has cut it, and continues there', async () => {
    const path = '/api/usage?from=0&to=999999999999';
    const read = async () => (await ask(path, { headers: asAlice() })).body;
    const keysOf = (rows: readonly { keyId: string; at: string }[]) => rows.map(({ keyId, at }) => `${keyId} ${at}`);
    const walk = async () => {
      const rows = [];
      for (let cursor: string | null = ''; cursor !== null; ) {
        const { body } = await ask(`${path}&limit=1${cursor && `&cursor=${cursor}`}`, { headers: asAlice() });
        expect(schemaFaults('/api/usage', body)).toBeNull();
        rows.push(...body.results);
        cursor = body.nextCursor;
      }
      return keysOf(rows);
    };
    let whole = await read();
    // Usage is written every few seconds; each request costs a credit, which the next tests need.
    for (let tries = 0; tries < 60 && whole.results.length < 2; tries += 1) {
      await sleep(1_500); // slower than the allowance is refilled
      whole = await read();
    }
    expect(whole.nextCursor).toBeNull();
    expect(whole.results.length).toBeGreaterThan(1);
    // A row may be written during the walk: then the walk is repeated.
    for (;;) {
      const before = keysOf(whole.results);
      const walked = await walk();
      if (walked.length === before.length) {
        expect(walked).toEqual(before);
        break;
      }
      whole = await read();
    }
  });

  it('usage counts credits and refusals by key and minute', async () => {
    for (let tries = 0; tries < 60; tries += 1) {
      const { status, body } = await ask('/api/usage', { headers: asAlice() });
      expect(status).toBe(200);
      expect(schemaFaults('/api/usage', body)).toBeNull();
      const refused = body.results.reduce((sum: number, row: { refused: number }) => sum + row.refused, 0);
      const credits = body.results.reduce((sum: number, row: { credits: number }) => sum + row.credits, 0);
      if (refused > 0 && credits > 300) return;
      await sleep(1_500); // each request costs a credit, which the next tests need
    }
    throw new Error('usage was not written within 90 s');
  });
});

describe('streams', () => {
  /** How an attempt ends: the codes of its errors and of its close; 1006 means an answer that is not an upgrade. */
  async function attempt(key: string): Promise<{ errors: string[]; code: number }> {
    const socket = new WebSocket(`ws://127.0.0.1:${service.port}/api/ws`, withKey(key));
    const errors: string[] = [];
    return await new Promise((resolve) => {
      socket.onclose = ({ code }) => resolve({ errors, code });
      socket.onerror = () => resolve({ errors, code: 1006 });
      socket.onmessage = ({ data }) => {
        const message = JSON.parse(data);
        if (message.type === 'error') errors.push(message.code);
      };
    });
  }

  it('refuse a wrong key: after the handshake if something has to be looked up, else at once', async () => {
    const refusal = { errors: ['key_invalid'], code: 4401 };
    let { key } = newKey(newId());
    let first = await attempt(key);
    // Earlier tests may have used up the allowance, which is refused after the handshake or instead of it: wait until it is back.
    while (first.errors.includes('rate_limited') || first.code === 1006) {
      await sleep(1_500);
      ({ key } = newKey(newId()));
      first = await attempt(key);
    }
    expect(first).toEqual(refusal);
    // The key is known by now, but the rest of the caller's allowance may have to be looked up.
    expect([refusal, { errors: [], code: 1006 }]).toContainEqual(await attempt(key));
  });

  it('cost a credit each, on both processes; without a credit no client connects', async () => {
    const key = await service.issueKey('free');
    const pay = (port: number) => ask('/api/stats/pulse', withKey(key), port);
    for (const port of [beside.port, service.port]) {
      let status = 200;
      while (status === 200) ({ status } = await pay(port));
      expect(status).toBe(429);
    }
    for (let tries = 0; tries < 2; tries++) {
      expect([
        { errors: ['rate_limited'], code: 4429 },
        { errors: [], code: 1006 },
      ]).toContainEqual(await attempt(key));
    }
  });
});
