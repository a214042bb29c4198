/**
 * Cache of keys and sessions that were looked up. An entry is valid until any key changes in any process, the chains move (the
 * identity may be revoked), or this process cannot be sure that it receives notifications.
 */
import type { Listener } from '../../infra/postgres/listen.ts';
import { shared } from '../../infra/shared.ts';
import type { ActiveKey } from './key-store.ts';
import { digestBytes, type PresentedKey, sameDigest } from './tokens.ts';

export interface KeyCache {
  /** Returns null for a wrong key and undefined for one that must be looked up. */
  known(presented: PresentedKey): ActiveKey | null | undefined;
  /** Looks up unknown keys. Returns null for an invalid key. */
  find(presented: PresentedKey): Promise<ActiveKey | null>;
  /** Invalidates every entry, after any change to keys. */
  clear(): void;
}

export interface KeyCacheOptions {
  /** Loads those of the given keys that may be used now. */
  readonly load: (ids: readonly string[]) => Promise<readonly ActiveKey[]>;
  /** Changes whenever an identity of a chain may have changed. */
  readonly stateTag: () => string;
  readonly listener: Pick<Listener, 'heardWithin'>;
}

interface Kept {
  readonly key: ActiveKey;
  readonly secretSha256: Buffer;
  readonly tag: string;
  /** Token that was already verified against this secret, so it is not compared again. */
  proven: PresentedKey | null;
}

/** A revoked key is refused within a second: this time plus one statement. */
const CERTAIN_MS = 700;
const MOST = 100_000;

export function createKeyCache({ load, stateTag, listener }: KeyCacheOptions): KeyCache {
  let kept = new Map<string, Kept>();
  let awaited = new Set<string>();
  const loadAwaited = shared(async () => {
    const ids = [...awaited];
    awaited = new Set();
    return new Map((await load(ids)).map((key) => [key.id, key]));
  });

  /** Runs one statement at a time; the next takes all ids requested meanwhile. */
  async function lookUp(id: string): Promise<ActiveKey | undefined> {
    awaited.add(id);
    return (await loadAwaited()).get(id);
  }

  async function findFresh({ id, secretSha256 }: PresentedKey): Promise<ActiveKey | null> {
    const cache = kept;
    const tag = stateTag();
    const key = await lookUp(id);
    // Uses the map from before the lookup, so that the entry is not cached if the cache is cleared meanwhile.
    if (!key) {
      cache.delete(id);
      return null;
    }
    const known = { key, secretSha256: digestBytes(key.secretSha256), tag, proven: null };
    if (cache.has(id) || cache.size < MOST) cache.set(id, known);
    return sameDigest(known.secretSha256, secretSha256) ? key : null;
  }

  function known(presented: PresentedKey): ActiveKey | null | undefined {
    const found = kept.get(presented.id);
    if (!found || !listener.heardWithin(CERTAIN_MS) || found.tag !== stateTag()) return undefined;
    if (found.key.expiresAt !== null && found.key.expiresAt.getTime() <= Date.now()) return undefined;
    if (found.proven === presented) return found.key;
    if (!sameDigest(found.secretSha256, presented.secretSha256)) return null;
    found.proven = presented;
    return found.key;
  }

  return {
    known,
    async find(presented) {
      const key = known(presented);
      return key === undefined ? findFresh(presented) : key;
    },
    clear() {
      kept = new Map();
    },
  };
}
