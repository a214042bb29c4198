/** Keys and sessions end for good with a revocation of their identity; a change of rights is never committed without its notification. */
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { Postgres } from '../../infra/postgres/postgres.ts';
import { type FlagsFrom, storeStates } from '../../test/support/api/access/store-identity.ts';
import { createTestStores, type TestStores } from '../../test/support/infra/test-stores.ts';
import { activeKeys, createKey, type IssuedKey, regenerateKey, revokeKey, setTier, tierOf } from './key-store.ts';
import { closeSession, findSession, openSession } from './sessions.ts';
import { readToken } from './tokens.ts';

const OWNER = { chain: 'one', identityAddress: 'i5f5njYtso65186mo5WHMkRme9YG6hrZE2' };
const REVOKED = 0x8000;

let stores: TestStores;
beforeAll(async () => {
  stores = await createTestStores();
});
beforeEach(async () => {
  await stores.postgres.pool.query('TRUNCATE identities, identity_tiers, api_keys, sessions, blocks CASCADE');
});
afterAll(() => stores.close());

const made = (issued: IssuedKey | null): IssuedKey => {
  if (!issued) throw new TypeError('no key');
  return issued;
};
const isActive = async (token: string): Promise<boolean> => {
  const presented = readToken(token);
  const [found] = await activeKeys(stores.postgres, [presented?.id ?? ''], [OWNER.chain]);
  return found?.secretSha256 === presented?.secretSha256.toString('hex');
};

/** A secret of the model, with the revocations that preceded it. */
interface Secret {
  readonly token: string;
  readonly isSession: boolean;
  readonly after: ReadonlySet<number>;
}

const STEPS = ['revoke', 'recover', 'update', 'key', 'session', 'regenerate', 'key of a session', 'rewind'] as const;

it('a secret is valid while its identity is not revoked and has no later revocation, whatever is reorganised', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.constantFrom(...STEPS), { maxLength: 14 }), async (steps) => {
      await stores.postgres.pool.query('TRUNCATE api_keys, sessions');
      let states: FlagsFrom[] = [{ fromHeight: 1, flags: 0 }];
      let secrets: Secret[] = [];
      const isRevoked = () => states.at(-1)?.flags === REVOKED;
      const revocations = () => new Set(states.filter(({ flags }) => flags === REVOKED).map((one) => one.fromHeight));
      const become = (flags: number) => states.push({ fromHeight: (states.at(-1)?.fromHeight ?? 0) + 1, flags });
      const latest = () => Math.max(0, ...secrets.flatMap(({ after }) => [...after]));
      for (const step of steps) {
        const [key, session] = [false, true].map((isSession) => secrets.findLast((one) => one.isSession === isSession));
        const after = revocations();
        if (step === 'revoke' && !isRevoked()) become(REVOKED);
        if (step === 'recover' && isRevoked()) become(0);
        if (step === 'update') become(states.at(-1)?.flags ?? 0);
        // Never rewinds below a revocation that a secret knows: a new revocation at that height would be mistaken for it.
        if (step === 'rewind' && states.length > 1 && (states.at(-1)?.fromHeight ?? 0) > latest())
          states = states.slice(0, -1);
        await storeStates(stores.postgres, OWNER, states);
        if (isRevoked() || secrets.length > 15) continue;
        if (step === 'key') {
          const { key: token } = made(await createKey(stores.postgres, OWNER, 'bot'));
          secrets.push({ token, isSession: false, after });
        }
        if (step === 'session') {
          const { token } = await openSession(stores.postgres, OWNER);
          secrets.push({ token, isSession: true, after });
        }
        if (step === 'regenerate' && key) {
          const id = readToken(key.token)?.id ?? '';
          const { key: token } = made(await regenerateKey(stores.postgres, OWNER, id));
          secrets = secrets.map((one) => (one === key ? { ...one, token, after } : one));
        }
        const found = step === 'key of a session' && session ? await findSession(stores.postgres, session.token) : null;
        if (found && session) {
          const { key: token } = made(await createKey(stores.postgres, found, 'bot'));
          secrets.push({ token, isSession: false, after: session.after });
        }
      }
      await storeStates(stores.postgres, OWNER, states);
      for (const { token, isSession, after } of secrets) {
        const isGood = !isRevoked() && [...revocations()].every((height) => after.has(height));
        expect(await isActive(token)).toBe(isGood);
        if (isSession) expect((await findSession(stores.postgres, token)) !== null).toBe(isGood);
      }
    }),
    { numRuns: 60 },
  );
});

it('a key that a session makes while its identity is revoked and recovered ends with the session', async () => {
  await storeStates(stores.postgres, OWNER, [{ fromHeight: 1, flags: 0 }]);
  const { token } = await openSession(stores.postgres, OWNER);
  const session = await findSession(stores.postgres, token);
  await storeStates(stores.postgres, OWNER, [
    { fromHeight: 1, flags: 0 },
    { fromHeight: 2, flags: REVOKED },
    { fromHeight: 3, flags: 0 },
  ]);
  if (!session) throw new TypeError('no session');
  expect(await isActive(made(await createKey(stores.postgres, session, 'late')).key)).toBe(false);
  expect(await isActive(made(await createKey(stores.postgres, OWNER, 'of the owner')).key)).toBe(true);
});

it.each([
  [-60, true],
  [60, false],
])('a key from before 0.7.0 is judged by the time of the revocation: %i s after the key', async (seconds, isGood) => {
  const { pool } = stores.postgres;
  await storeStates(stores.postgres, OWNER, [
    { fromHeight: 1, flags: 0 },
    { fromHeight: 2, flags: REVOKED },
    { fromHeight: 3, flags: 0 },
  ]);
  const { key } = made(await createKey(stores.postgres, OWNER, 'old'));
  await pool.query('UPDATE api_keys SET after_revocation = NULL');
  await pool.query(
    `INSERT INTO blocks (chain, height, hash, time, clock, size, tx_count, validation_type, difficulty, bits, nonce, version,
       merkle_root, chain_work, chain_stake, reward, fees, position)
     SELECT chain, 2, '\\x00', extract(epoch FROM created_at)::bigint + $1, 0, 1, 1, 'work', '1', '', '', 1, '\\x00', '\\x00', '\\x00', 0, 0, 2
     FROM api_keys`,
    [seconds],
  );
  expect(await isActive(key)).toBe(isGood);
});

/** A Postgres whose connection ends before the notification. */
function withoutNotice({ pool, transaction }: Postgres): Postgres {
  const cut = <Q extends object>(target: Q): Q =>
    new Proxy(target, {
      get(on, name) {
        const member: unknown = Reflect.get(on, name);
        if (name !== 'query' || typeof member !== 'function') return member;
        return (text: string, ...values: unknown[]) => {
          if (/NOTIFY/i.test(text)) throw new Error('the connection ended');
          return member.call(on, text, ...values);
        };
      },
    });
  return {
    ...stores.postgres,
    pool: cut(pool),
    transaction: (work) => transaction((client) => work(cut(client))),
  };
}

it('a change of rights without its notification to other processes changes nothing', async () => {
  await storeStates(stores.postgres, OWNER, [{ fromHeight: 1, flags: 0 }]);
  const { key, row } = made(await createKey(stores.postgres, OWNER, 'bot'));
  const { token } = await openSession(stores.postgres, OWNER);
  const failing = withoutNotice(stores.postgres);
  const changes = [
    () => regenerateKey(failing, OWNER, row.id),
    () => revokeKey(failing, OWNER, row.id),
    () => setTier(failing, OWNER, 'pro'),
    () => closeSession(failing, token),
  ];
  for (const change of changes) await expect(change()).rejects.toThrow('the connection ended');
  expect(await isActive(key)).toBe(true);
  expect(await isActive(token)).toBe(true);
  expect(await tierOf(stores.postgres, OWNER)).toBe('free');
});
