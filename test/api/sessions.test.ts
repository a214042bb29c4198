/** Requests that sessions pay for, over HTTP, on two API processes of one service. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createKey, setTier } from '../../api/access/key-store.ts';
import { openSession } from '../../api/access/sessions.ts';
import type { RunningApi } from '../../api/server.ts';
import { storeIdentity } from '../support/api/access/store-identity.ts';
import { ALICE, CHAIN, type RunningService, startService } from './running-service.ts';

const HOLDER = { chain: CHAIN, identityAddress: ALICE };
const TIERS = { free: { creditsPerMinute: 60 }, developer: { creditsPerMinute: 150 }, pro: { creditsPerMinute: 500 } };
const READ = '/api/market/protocol';

let service: RunningService;
let beside: RunningApi;
beforeAll(async () => {
  service = await startService({ startHeight: 300, limits: { tiers: TIERS, keylessRequestsPerMinute: 1_000 } });
  await service.settled();
  beside = await service.startSecondApi();
  await setTier(service.stores.postgres, HOLDER, 'pro');
}, 600_000);
afterAll(async () => {
  await beside?.close();
  await service?.stop();
});

const open = async () => (await openSession(service.stores.postgres, HOLDER)).token;

async function ask(
  path: string,
  token: string,
  { port = service.port, ...init }: RequestInit & { port?: number } = {},
) {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
    ...init,
    headers: { authorization: `Bearer ${token}` },
  });
  const { status, headers } = answer;
  await answer.arrayBuffer();
  return { status, policy: headers.get('ratelimit-policy'), left: Number(headers.get('x-ratelimit-remaining')) };
}

const OF_THE_TIER = '"credits";q=500;w=60';
const OF_THE_NETWORK = /^"requests";q=1000/;

describe('a session', () => {
  it('pays from the credits of its identity, which its keys share', async () => {
    const token = await open();
    const key = (await createKey(service.stores.postgres, HOLDER, 'bot'))?.key ?? '';
    const { left, policy } = await ask(READ, key);
    expect(policy).toBe(OF_THE_TIER);
    expect(await ask(READ, token)).toEqual({ status: 200, policy, left: left - 1 });
    expect(await ask(READ, key)).toEqual({ status: 200, policy, left: left - 2 });
    const { rows } = await service.stores.postgres.pool.query(
      "SELECT key_id FROM account_usage WHERE key_id <> 'session' AND length(key_id) <> 16",
    );
    expect(rows).toEqual([]);
  });

  it('has the tier of its identity, also after the tier changes while the session is open', async () => {
    const token = await open();
    const estimate = '/api/market/estimate?from=VRSCTEST&to=PureTri&amount=0'; // the amount is invalid, which is checked after the tier
    expect((await ask(estimate, token)).status).toBe(400);
    await setTier(service.stores.postgres, HOLDER, 'free');
    for (const port of [service.port, beside.port]) {
      await expect.poll(async () => (await ask(estimate, token, { port })).status, { interval: 50 }).toBe(403);
    }
    await setTier(service.stores.postgres, HOLDER, 'pro');
    await expect.poll(async () => (await ask(estimate, token)).status, { interval: 50 }).toBe(400);
  });

  it('that has ended counts as none, on every process within a second', async () => {
    const token = await open();
    for (const port of [service.port, beside.port]) expect((await ask(READ, token, { port })).policy).toBe(OF_THE_TIER);
    expect((await ask('/api/auth/logout', token, { method: 'POST' })).status).toBe(204);
    for (const port of [service.port, beside.port]) {
      const policy = async () => (await ask(READ, token, { port })).policy;
      await expect.poll(policy, { interval: 50 }).toMatch(OF_THE_NETWORK);
      expect((await ask('/api/keys', token, { port })).status).toBe(401);
    }
    const late = await open();
    await service.stores.postgres.pool.query("UPDATE sessions SET expires_at = now() - interval '1 second'");
    expect((await ask(READ, late)).policy).toMatch(OF_THE_NETWORK);
    expect((await ask(READ, `vss_${'0'.repeat(64)}`)).policy).toMatch(OF_THE_NETWORK);
  });

  it('of a chain that has left the configuration counts as none', async () => {
    const gone = { chain: 'gone', identityAddress: ALICE };
    await storeIdentity(service.stores.postgres, { ...gone, flags: 0 });
    const { token } = await openSession(service.stores.postgres, gone);
    expect((await ask('/api/auth/session', token)).status).toBe(401);
    expect((await ask('/api/keys', token)).status).toBe(401);
    expect((await ask(READ, token)).status).toBe(200);
  });

  it('leaves the paths of the account to the allowance of its network, which a leaked key cannot exhaust', async () => {
    const token = await open();
    const key = (await createKey(service.stores.postgres, HOLDER, 'leaked'))?.key ?? '';
    let refused = false;
    for (let n = 0; n < 150 && !refused; n += 1) refused = (await ask('/api/blocks/5/raw', key)).status === 429;
    expect(refused).toBe(true);
    expect((await ask('/api/blocks/5/raw', token)).status).toBe(429);
    const keys = await ask('/api/keys', token);
    expect([keys.status, keys.policy]).toEqual([200, expect.stringMatching(OF_THE_NETWORK)]);
  });

  it('is ignored on JSON-RPC', async () => {
    const call = { method: 'POST', body: '{"id":1,"method":"getblockcount"}' };
    expect(await ask('/', await open(), call)).toMatchObject({
      status: 200,
      policy: expect.stringMatching(OF_THE_NETWORK),
    });
  });
});
