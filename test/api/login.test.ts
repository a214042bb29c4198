/**
 * Login over HTTP, on two API processes of one service (the test's own and a second operating system process), by identities of a
 * generated chain whose keys the test has: every signature here is fresh and could be valid. A signature that is replayed, late,
 * borrowed or outdated opens no session.
 */
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { setTier } from '../../api/access/key-store.ts';
import type { RunningApi } from '../../api/server.ts';
import { NATIVE } from '../generator/addresses.ts';
import { SEED } from '../setup/seed.ts';
import { createSigningIdentity } from '../support/recordings/player/signing-identity.ts';
import { schemaFaults } from './client.ts';
import { type IdentityDaemon, type OwnIdentity, startIdentityDaemon } from './generated-identities.ts';
import { CHAIN, type RunningService, startServiceOn } from './running-service.ts';

const REPLAYS = Number(process.env.LOGIN_REPLAYS ?? 300);
const AT_ONCE = 32;
const PRO = 500;
/** Share of an allowance that all processes together reserve ahead. */
const PARTS = 0.1;
const AMPLE = { creditsPerMinute: 1e9 };
const LIMITS = {
  tiers: { free: AMPLE, developer: AMPLE, pro: { creditsPerMinute: PRO } },
  keylessRequestsPerMinute: 1e9,
};

let service: RunningService<IdentityDaemon>;
let beside: RunningApi;
let node: IdentityDaemon;
let [alice, bob, locked, revoked, turning, rotating]: OwnIdentity[] = [];
beforeAll(async () => {
  node = await startIdentityDaemon(SEED, [{}, { keys: 3, minimum: 2 }, {}, {}, {}, {}]);
  [alice, bob, locked, revoked, turning, rotating] = node.identities;
  locked?.change('locked');
  revoked?.change('revoked');
  node.grow(2);
  service = await startServiceOn(node, { limits: LIMITS, publicHosts: ['API.example', 'other.example'] });
  await service.settled();
  beside = await service.startSecondApi();
});
afterAll(async () => {
  await beside?.close();
  await service?.stop();
});

interface Answered {
  readonly status: number;
  readonly body: { readonly code?: string; readonly [member: string]: unknown };
}

/** node:http, since fetch sets the Host header itself. */
function post(path: string, body: unknown, { port = service.port, host = 'api.example' } = {}): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const sent = request({ port, host: '127.0.0.1', path, method: 'POST', headers: { host } }, async (answer) => {
      const text = (await answer.setEncoding('utf8').toArray()).join('');
      resolve({ status: answer.statusCode ?? 0, body: text === '' ? {} : JSON.parse(text) });
    });
    sent.on('error', reject).end(JSON.stringify(body));
  });
}

type Where = { readonly port?: number; readonly host?: string };

async function challengeOf(
  { address }: OwnIdentity,
  where: Where = {},
): Promise<{ challengeId: string; message: string }> {
  const { status, body } = await post('/api/auth/challenge', { identity: address, chain: CHAIN }, where);
  expect([status, schemaFaults('/api/auth/challenge', body)]).toEqual([200, null]);
  return body as unknown as { challengeId: string; message: string };
}

async function outcome(login: { challengeId: string; signature: string }, where: Where = {}): Promise<string> {
  const { status, body } = await post('/api/auth/login', login, where);
  return status === 200 ? 'accepted' : `${status} ${body.code}`;
}

const REFUSED = '401 login_refused';
const known = (identity: OwnIdentity | undefined): OwnIdentity => {
  if (!identity) throw new Error('the chain has too few identities');
  return identity;
};

async function signed(identity: OwnIdentity, where: Where = {}): Promise<{ challengeId: string; signature: string }> {
  const { challengeId, message } = await challengeOf(identity, where);
  return { challengeId, signature: await identity.sign(message) };
}

describe('a fresh signature', () => {
  it.each([
    ['of one key', () => alice],
    ['of two of three keys', () => bob],
    ['of a locked identity: it cannot spend, but its keys are valid', () => locked],
  ])('%s opens a session, on either process', async (_, which) => {
    const identity = known(which());
    for (const port of [service.port, beside.port]) {
      const { status, body } = await post('/api/auth/login', await signed(identity), { port });
      expect([status, body.identityAddress, body.chain]).toEqual([200, identity.address, CHAIN]);
      const session = await fetch(`${service.url}/api/auth/session`, {
        headers: { authorization: `Bearer ${body.token}` },
      });
      expect(await session.json()).toMatchObject({ identityAddress: identity.address, tier: 'free' });
    }
  });
});

describe('0 accepted', () => {
  it(`of ${REPLAYS} replays on two processes, after exactly one of ${AT_ONCE} at once`, async () => {
    const login = await signed(known(alice));
    const ports = [service.port, beside.port];
    const portOf = (n: number) => ports[n % ports.length] ?? 0;
    const first = await Promise.all(Array.from({ length: AT_ONCE }, (_, n) => outcome(login, { port: portOf(n) })));
    expect(first.filter((said) => said === 'accepted')).toHaveLength(1);
    const { verified } = node;
    const said = new Set<string>();
    for (let done = 0; done < REPLAYS; done += AT_ONCE) {
      const some = Array.from({ length: Math.min(AT_ONCE, REPLAYS - done) }, (_, n) =>
        outcome(login, { port: portOf(n) }),
      );
      for (const one of await Promise.all(some)) said.add(one);
    }
    expect([...said]).toEqual([REFUSED]);
    expect(node.verified, 'a spent challenge never reaches the daemon').toBe(verified);
    console.log(`login over HTTP: ${REPLAYS} replays, ${AT_ONCE} at once: 1 accepted, then 0`);
  });

  it('of a valid signature after a wrong one, under another challenge, by another host, too late', async () => {
    const one = known(alice);
    const spent = await signed(one);
    expect(await outcome({ ...spent, signature: 'AgW=' })).toBe(REFUSED);
    expect(await outcome(spent)).toBe(REFUSED);
    const [first, second] = [await signed(one), await signed(one)];
    expect(await outcome({ ...first, signature: second.signature })).toBe(REFUSED);
    expect(await outcome(await signed(one), { host: 'evil.example' })).toBe(REFUSED);
    expect(await outcome(await signed(one, { host: 'other.example' }))).toBe(REFUSED);
    const late = await signed(one);
    await service.stores.postgres.pool.query(
      `UPDATE login_challenges SET expires_at = now() - interval '1 ms' WHERE id = $1`,
      [late.challengeId],
    );
    expect(await outcome(late)).toBe(REFUSED);
    expect(await outcome({ challengeId: 'nothing', signature: second.signature })).toBe(REFUSED);
    expect(await outcome(second), 'an unused challenge is still valid').toBe('accepted');
  });

  it('of another identity, of keys that were never its, of too few keys', async () => {
    const [one, two] = [known(alice), known(bob)];
    const answered = async (identity: OwnIdentity, sign: (message: string) => Promise<string>) => {
      const { challengeId, message } = await challengeOf(identity);
      return outcome({ challengeId, signature: await sign(message) });
    };
    const forged = createSigningIdentity({ systemId: NATIVE, identityaddress: one.address });
    expect(await answered(one, (message) => two.sign(message))).toBe(REFUSED);
    expect(await answered(one, (message) => forged.sign(message, node.height))).toBe(REFUSED);
    expect(await answered(two, (message) => two.signer.sign(message, node.height, 2, 1))).toBe(REFUSED);
    expect(await answered(two, (message) => two.signer.sign(message, node.height, 2, 3))).toBe('accepted');
  });

  it('of keys that a block has replaced, though the signature names a height at which they were valid', async () => {
    const identity = known(rotating);
    const old = identity.signer;
    identity.change('new keys');
    node.grow(1);
    await service.settled();
    const { challengeId, message } = await challengeOf(identity);
    expect(await outcome({ challengeId, signature: await old.sign(message, node.height - 1) })).toBe(REFUSED);
    expect(await outcome(await signed(identity))).toBe('accepted');
  });

  it('of revoked identities, until a reorganisation reverts the revocation', async () => {
    const challenge = { identity: known(revoked).address };
    expect(await post('/api/auth/challenge', challenge)).toMatchObject({
      status: 403,
      body: { code: 'identity_revoked' },
    });
    const identity = known(turning);
    const open = await post('/api/auth/login', await signed(identity));
    const session = () =>
      fetch(`${service.url}/api/auth/session`, { headers: { authorization: `Bearer ${open.body.token}` } });
    expect((await session()).status).toBe(200);
    const waiting = await signed(identity);
    identity.change('revoked');
    node.grow(1);
    await service.settled();
    expect(await outcome(waiting)).toBe('403 identity_revoked');
    expect((await session()).status).toBe(401);
    node.reorganise(1, 2);
    await service.settled();
    await expect.poll(async () => outcome(await signed(identity))).toBe('accepted');
  });

  it('of hosts that are not the service: a signature for one of them opens no session', async () => {
    const asked = { identity: known(alice).address };
    for (const host of ['evil.example', 'api.example.', 'api.example:443', `127.0.0.1:${service.port}`]) {
      expect(await post('/api/auth/challenge', asked, { host })).toMatchObject({
        status: 400,
        body: { code: 'host_refused', detail: expect.stringContaining('only at api.example, other.example') },
      });
    }
    expect(await post('/api/auth/challenge', asked, { host: 'api.example, evil' })).toMatchObject({
      status: 400,
      body: { code: 'invalid_framing' },
    });
    const { rows } = await service.stores.postgres.pool.query("SELECT FROM login_challenges WHERE host LIKE '%evil%'");
    expect(rows).toEqual([]);
  });

  it('while the daemon is behind its network', async () => {
    const waiting = await signed(known(alice));
    node.behind = 1;
    const asked = { identity: known(alice).address };
    expect(await post('/api/auth/challenge', asked)).toMatchObject({ status: 503, body: { code: 'syncing' } });
    expect(await outcome(waiting)).toBe('503 syncing');
    node.behind = 0;
    expect(await outcome(waiting), 'it was spent').toBe(REFUSED);
  });
});

describe('the limits of a key', () => {
  it('are reported correctly by two processes, within the parts that they reserve', async () => {
    const identity = known(bob);
    await setTier(service.stores.postgres, { chain: CHAIN, identityAddress: identity.address }, 'pro');
    const { body: session } = await post('/api/auth/login', await signed(identity));
    const issued = await fetch(`${service.url}/api/keys`, {
      method: 'POST',
      headers: { authorization: `Bearer ${session.token}` },
      body: JSON.stringify({ name: 'bot' }),
    });
    const { key } = (await issued.json()) as { key: string };
    const uses: { readonly at: number; readonly cost: number }[] = [];
    /** Difference between the headers of an answer and the credits that are left. */
    const off = async (port: number): Promise<number> => {
      const answer = await fetch(`http://127.0.0.1:${port}/api/market/protocol`, { headers: { 'x-api-key': key } });
      await answer.text();
      expect(answer.status).toBe(200);
      uses.push({ at: performance.now(), cost: Number(answer.headers.get('x-credits-cost')) });
      const lately = uses.filter(({ at }) => performance.now() - at < 60_000);
      const left = PRO - lately.reduce((sum, { cost }) => sum + cost, 0);
      return Math.abs(Number(answer.headers.get('x-ratelimit-remaining')) - left);
    };
    const ports = [service.port, beside.port] as const;
    for (let n = 0; n < 150; n += 1) expect(await off(ports[n % 2] ?? 0)).toBeLessThanOrEqual(PRO * PARTS);
    // All requests to one process; the other one knows of them once it has asked.
    for (let n = 0; n < 100; n += 1) await off(ports[0]);
    await expect.poll(() => off(ports[1]), { interval: 500 }).toBeLessThanOrEqual(PRO * PARTS);
  });
});
