import { describe, expect, it } from 'vitest';
import { createKeyCache } from './key-cache.ts';
import type { ActiveKey } from './key-store.ts';
import { digest, newKey, newSession, type PresentedKey, readKey, readToken } from './tokens.ts';

const ID = '0123456789abcdef';

function cacheOf() {
  const world = { tag: 'block 1', heard: true, asked: 0, keys: new Map<string, ActiveKey>() };
  const cache = createKeyCache({
    load: async (ids) => {
      world.asked += 1;
      return ids.flatMap((id) => world.keys.get(id) ?? []);
    },
    stateTag: () => world.tag,
    // A revocation may take one second; the rest of it is for the statement that looks the key up again.
    listener: { heardWithin: (ms) => world.heard && ms <= 700 },
  });
  const { key, secretSha256 } = newKey(ID);
  world.keys.set(ID, {
    id: ID,
    chain: 'made',
    identityAddress: 'iAlice',
    secretSha256,
    tier: 'pro',
    account: 'made iAlice',
    expiresAt: null,
    creditsPerMinute: null,
  });
  const presented = (text: string): PresentedKey => {
    const read = readKey(text);
    if (!read) throw new Error(`${text} is no key`);
    return read;
  };
  const find = (text: string) => cache.find(presented(text));
  const known = (text: string) => cache.known(presented(text));
  return { world, cache, key, find, known };
}

describe('a key', () => {
  it('is looked up in Postgres once, then cached', async () => {
    const { world, key, find, known } = cacheOf();
    expect(known(key)).toBeUndefined();
    expect(await find(key)).toMatchObject({ tier: 'pro' });
    expect(known(key)).toMatchObject({ tier: 'pro' });
    expect(await find(key)).toMatchObject({ tier: 'pro' });
    const wrong = key.slice(0, -1) + (key.endsWith('0') ? '1' : '0');
    expect(known(wrong)).toBeNull();
    expect(await find(wrong)).toBeNull();
    expect(world.asked).toBe(1);
  });

  it('is looked up again when keys changed, its chain moved, or the listener is silent', async () => {
    const { world, cache, key, find, known } = cacheOf();
    await find(key);
    world.keys.clear();
    for (const doubt of [() => cache.clear(), () => (world.tag = 'block 2'), () => (world.heard = false)]) {
      doubt();
      expect(known(key)).toBeUndefined();
      expect(await find(key)).toBeNull();
    }
  });

  it('that has expired, as sessions do, is looked up again each time', async () => {
    const { world, key, find, known } = cacheOf();
    const session = world.keys.get(ID) as ActiveKey;
    world.keys.set(ID, { ...session, expiresAt: new Date(Date.now() + 60_000) });
    await find(key);
    expect(known(key)).toMatchObject({ tier: 'pro' });
    world.keys.set(ID, { ...session, expiresAt: new Date(Date.now() - 1) });
    world.tag = 'block 2';
    await find(key);
    expect(known(key)).toBeUndefined();
  });

  it('is not cached when keys changed during its lookup', async () => {
    const { world, cache, key, find } = cacheOf();
    const asked = find(key);
    cache.clear();
    expect(await asked).not.toBeNull();
    world.keys.clear();
    expect(await find(key)).toBeNull();
  });

  it('many concurrent lookups cost two statements', async () => {
    const { world, find } = cacheOf();
    await Promise.all(
      Array.from({ length: 1_000 }, (_, n) => find(`vst_${n.toString(16).padStart(16, '0')}_${digest('')}`)),
    );
    expect(world.asked).toBeLessThanOrEqual(2);
  });

  it.each([
    '',
    'vst_nothing',
    'vst_0123456789abcdef_',
    `vst_0123456789ABCDEF_${'0'.repeat(64)}`,
    `vss_${'0'.repeat(64)}`,
  ])('%j cannot be a key', (text) => expect(readKey(text)).toBeNull());

  it('and a session are the only valid tokens', () => {
    const session = newSession();
    expect(readToken(session)).toEqual({ id: digest(session), secretSha256: Buffer.from(digest(session), 'hex') });
    expect(readToken(newKey(ID).key)?.id).toBe(ID);
    for (const wrong of ['', 'vss_', session.slice(0, -1), `${session}0`, 'Basic']) expect(readToken(wrong)).toBeNull();
  });
});
