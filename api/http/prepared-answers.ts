/** Caches answers until the state that they were made from changes; evicts the least recently requested. */
import { LRUCache } from 'lru-cache';
import { createFlights } from '../../infra/shared.ts';
import { SERVICE, type WorkOwner } from '../access/priority-lanes.ts';

export interface PreparedAnswer {
  /** State that the body was made from. */
  readonly tag: string;
  readonly body: Uint8Array;
  /** Serves only the requests that arrived while it was being made. */
  readonly transient?: boolean;
}

/** An answer that was requested lately. */
export interface Demanded<A> {
  readonly key: string;
  readonly answer: A;
  /** The only caller that requests it; the service when there are several. */
  readonly owner: WorkOwner;
}

export interface Demand {
  /** How long ago the last request may be. */
  readonly milliseconds: number;
  readonly most: number;
  /** Maximum of answers that only one owner requests, for each owner. */
  readonly mostOfOne: number;
}

/** `asker` defaults to the service. */
export interface PreparedAnswers<A extends PreparedAnswer = PreparedAnswer> {
  /** Returns the cached answer if it belongs to this state. Counts as a request for it in either case. */
  get(key: string, tag: string, asker?: WorkOwner): A | undefined;
  /** Returns the cached answer, whatever its state. */
  latest(key: string): A | undefined;
  keep(key: string, answer: A): void;
  /** Makes the answer once for all concurrent callers: as work of the first one, or of the service if others have requested it before. */
  make(key: string, tag: string, work: (owner: WorkOwner) => Promise<A>, asker?: WorkOwner): Promise<A>;
  /** Returns the answers requested lately or since the last call: first those with several callers, then by most recent request. */
  demanded(demand: Demand): readonly Demanded<A>[];
}

/** Bytes that an entry takes in addition to its body and its key. */
const ENTRY_BYTES = 1024;
/** The parameters are in memory twice: in the key and in the answer. */
const KEY_COPIES = 2;

interface Kept<A> {
  readonly answer: A;
  /** Whether it was requested since `askedAt` was written: reading the clock would cost more than the look-up. */
  isAsked: boolean;
  /** Milliseconds of `now()`. */
  askedAt: number;
  /** The only caller that has requested it; the service once there are several. */
  owner: WorkOwner;
}

const ownerOf = (owner: WorkOwner, asker: WorkOwner) => (owner.payer === asker.payer ? owner : SERVICE);

export function createPreparedAnswers<A extends PreparedAnswer = PreparedAnswer>(
  maxBytes: number,
  now: () => number = () => performance.now(),
): PreparedAnswers<A> {
  const kept = new LRUCache<string, Kept<A>>({
    // With 0 bytes nothing is kept, because every answer is larger than 1. No `max`: the cache would allocate that many entries at the start.
    maxSize: Math.max(1, maxBytes),
    sizeCalculation: ({ answer }, key) => answer.body.byteLength + KEY_COPIES * key.length + ENTRY_BYTES,
  });
  const flights = createFlights<string, A>();

  function keep(key: string, answer: A, asker: WorkOwner): void {
    if (answer.transient) {
      kept.delete(key);
      return;
    }
    const { isAsked, askedAt, owner } = kept.peek(key) ?? { isAsked: false, askedAt: now(), owner: asker };
    kept.set(key, { answer, isAsked, askedAt, owner: ownerOf(owner, asker) });
  }

  async function makeAndKeep(key: string, asker: WorkOwner, work: (owner: WorkOwner) => Promise<A>): Promise<A> {
    const answer = await work(ownerOf(kept.peek(key)?.owner ?? asker, asker));
    keep(key, answer, asker);
    return answer;
  }

  return {
    get(key, tag, asker = SERVICE) {
      const found = kept.get(key);
      if (!found) return undefined;
      found.isAsked = true;
      found.owner = ownerOf(found.owner, asker);
      return found.answer.tag === tag ? found.answer : undefined;
    },
    latest: (key) => kept.peek(key)?.answer,
    keep: (key, answer) => keep(key, answer, SERVICE),
    make: (key, tag, work, asker = SERVICE) => flights(`${tag} ${key}`, () => makeAndKeep(key, asker, work)),
    demanded({ milliseconds, most, mostOfOne }) {
      const at = now();
      const since = at - milliseconds;
      for (const entry of kept.values()) if (entry.isAsked) [entry.isAsked, entry.askedAt] = [false, at];
      const lately = [...kept.entries()]
        .filter(([, { askedAt }]) => askedAt >= since)
        .sort(([, one], [, other]) => other.askedAt - one.askedAt)
        .map(([key, { answer, owner }]) => ({ key, answer, owner }));
      const ofAll = lately.filter(({ owner }) => owner.payer === SERVICE.payer);
      const ofOne = Map.groupBy(lately, ({ owner }) => owner.payer);
      ofOne.delete(SERVICE.payer);
      const allowed = new Set([...ofOne.values()].flatMap((own) => own.slice(0, mostOfOne)));
      return [...ofAll, ...lately.filter((one) => allowed.has(one))].slice(0, most);
    },
  };
}
