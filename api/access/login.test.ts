/** Login by signature: no replayed, reused, late, borrowed or revoked signature opens a session. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DaemonUnreachable } from '../../infra/verusd/daemon-errors.ts';
import { verifyIdentityMessage } from '../../recordings/player/verify-message.ts';
import { storeIdentity } from '../../test/support/api/access/store-identity.ts';
import { createTestStores, type TestStores } from '../../test/support/infra/test-stores.ts';
import { createSigningIdentity, type SigningIdentity } from '../../test/support/recordings/player/signing-identity.ts';
import { createLogin } from './login.ts';
import { createPublicHosts } from './public-hosts.ts';
import { findSession, openSession } from './sessions.ts';

const CHAIN = 'made';
const TIP = 500;
const HOST = 'api.example.org';
const SYSTEM = 'iJhCezBExJHvtyH3fGhNnt2NhU4Ztkf2yq';
const REPLAYS = Number(process.env.LOGIN_REPLAYS ?? 500);

const alice = createSigningIdentity({ systemId: SYSTEM });
const bob = createSigningIdentity({ systemId: SYSTEM, keys: 3, minimum: 2 });
const locked = createSigningIdentity({ systemId: SYSTEM, flags: 0x2 });
const revoked = createSigningIdentity({ systemId: SYSTEM, flags: 0x8000 });
const turning = createSigningIdentity({ systemId: SYSTEM });
const identities = new Map([alice, bob, locked, revoked, turning].map((one) => [one.identityaddress, one]));

/** State of the simulated daemon of the chain `made`. */
const daemon = { blocks: TIP, longestchain: TIP, verified: 0, down: false };
const client = {
  async call(method: string, params: readonly unknown[]): Promise<unknown> {
    if (daemon.down) throw new DaemonUnreachable('no daemon');
    if (method === 'getinfo') return { blocks: daemon.blocks, longestchain: daemon.longestchain };
    daemon.verified += 1;
    const [address, signature, message, checkLatest] = params as [string, string, string, boolean];
    const keysAt = () => identities.get(address) ?? null;
    const signer = { systemId: SYSTEM, tip: daemon.blocks, keysAt, checkLatest };
    return verifyIdentityMessage(signer, Buffer.from(signature, 'base64'), message);
  },
};

let stores: TestStores;
let login: ReturnType<typeof createLogin>;
beforeAll(async () => {
  stores = await createTestStores();
  for (const { identityaddress, flags } of identities.values()) {
    await storeIdentity(stores.postgres, { chain: CHAIN, identityAddress: identityaddress, flags });
  }
  const hosts = createPublicHosts({ publicHosts: [HOST], host: '127.0.0.1' }, () => 8080);
  login = createLogin({ postgres: stores.postgres, daemon: () => client, hosts, indexedHeight: () => TIP });
});
afterAll(() => stores.close());

const challengeFor = (identity: SigningIdentity) =>
  login.challenge({ chain: CHAIN, identityAddress: identity.identityaddress }, HOST);
const outcome = (promise: Promise<unknown>) =>
  promise.then(
    () => 'accepted',
    (error: { code?: string }) => error.code ?? String(error),
  );

describe('a signature of the identity', () => {
  it.each([
    ['one key', alice],
    ['two of three keys', bob],
    ['a locked identity, whose keys are valid', locked],
  ])('%s', async (_, identity) => {
    const { id, message, command, expiresAt } = await challengeFor(identity);
    expect(command).toBe(`signmessage "${identity.identityaddress}" "${message}"`);
    expect(message).toContain(HOST);
    expect(expiresAt.getTime() - Date.now()).toBeLessThanOrEqual(5 * 60_000);
    const holder = await login.answer(id, await identity.sign(message, TIP), HOST);
    expect(holder).toEqual({ chain: CHAIN, identityAddress: identity.identityaddress, afterRevocation: 0 });
  });
});

describe('0 accepted', () => {
  it(`of ${REPLAYS} replays and reuses after success, even concurrently`, async () => {
    const { id, message } = await challengeFor(alice);
    const signature = await alice.sign(message, TIP);
    const first = await Promise.all(Array.from({ length: 32 }, () => outcome(login.answer(id, signature, HOST))));
    expect(first.filter((said) => said === 'accepted')).toHaveLength(1);
    const before = daemon.verified;
    const replays = await Promise.all(
      Array.from({ length: REPLAYS }, () => outcome(login.answer(id, signature, HOST))),
    );
    expect(new Set(replays)).toEqual(new Set(['login_refused']));
    expect(daemon.verified, 'a spent challenge never reaches the daemon').toBe(before);
    // The signature of one challenge sent for another challenge.
    const next = await challengeFor(alice);
    expect(await outcome(login.answer(next.id, signature, HOST))).toBe('login_refused');
  });

  it('after a failure: a wrong answer spends the challenge, too', async () => {
    const { id, message } = await challengeFor(alice);
    expect(await outcome(login.answer(id, 'AgW=', HOST))).toBe('login_refused');
    expect(await outcome(login.answer(id, await alice.sign(message, TIP), HOST))).toBe('login_refused');
  });

  it('for an expired challenge, another host, another identity, or an unknown challenge', async () => {
    const late = await challengeFor(alice);
    await stores.postgres.pool.query(`UPDATE login_challenges SET expires_at = now() - interval '1 ms'`);
    expect(await outcome(login.answer(late.id, await alice.sign(late.message, TIP), HOST))).toBe('login_refused');
    const elsewhere = await challengeFor(alice);
    const signature = await alice.sign(elsewhere.message, TIP);
    expect(await outcome(login.answer(elsewhere.id, signature, 'evil.example'))).toBe('login_refused');
    const borrowed = await challengeFor(alice);
    expect(await outcome(login.answer(borrowed.id, await bob.sign(borrowed.message, TIP), HOST))).toBe('login_refused');
    const forged = createSigningIdentity({ systemId: SYSTEM, identityaddress: alice.identityaddress });
    const taken = await challengeFor(alice);
    expect(await outcome(login.answer(taken.id, await forged.sign(taken.message, TIP), HOST))).toBe('login_refused');
    expect(await outcome(login.answer('nothing', signature, HOST))).toBe('login_refused');
  });

  it('of revoked identities: they get no challenge, no login, and their open sessions end', async () => {
    expect(await outcome(challengeFor(revoked))).toBe('identity_revoked');
    const holder = { chain: CHAIN, identityAddress: turning.identityaddress };
    const { id, message } = await challengeFor(turning);
    const { token } = await openSession(stores.postgres, holder);
    expect(await findSession(stores.postgres, token)).toMatchObject(holder);
    await storeIdentity(stores.postgres, { ...holder, flags: 0x8000 });
    expect(await outcome(login.answer(id, await turning.sign(message, TIP), HOST))).toBe('identity_revoked');
    expect(await findSession(stores.postgres, token)).toBeNull();
  });

  it('while the daemon or the index is behind, or the daemon is gone', async () => {
    const open = await challengeFor(alice);
    for (const state of [
      { blocks: TIP - 1 },
      { longestchain: TIP + 1 },
      { blocks: TIP + 20, longestchain: TIP + 20 },
    ]) {
      Object.assign(daemon, { blocks: TIP, longestchain: TIP }, state);
      expect(await outcome(challengeFor(alice))).toBe('syncing');
    }
    expect(await outcome(login.answer(open.id, await alice.sign(open.message, TIP), HOST))).toBe('syncing');
    Object.assign(daemon, { blocks: TIP, longestchain: TIP, down: true });
    expect(await outcome(challengeFor(alice))).toBe('daemon_unreachable');
    daemon.down = false;
  });

  it('for hosts that are not of the service, including those that could break out of the command line', async () => {
    const holder = { chain: CHAIN, identityAddress: alice.identityaddress };
    for (const host of ['evil.example', '', 'a"b', 'a b', 'a$(x)', 'a\nb']) {
      expect(await outcome(login.challenge(holder, host))).toBe('host_refused');
    }
  });
});
