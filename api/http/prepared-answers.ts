/** Bodies kept until the state that they were made from changes; the least recently asked go first. */
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

/** An answer that was asked for lately. */
export interface Demanded<A> {
  readonly key: string;
  readonly answer: A;
  /** The only one who asks for it, or the service. */
  readonly owner: WorkOwner;
}

export interface Demand {
  /** Before the last call. */
  readonly milliseconds: number;
  readonly most: number;
  /** The most of what one owner alone asks for. */
  readonly mostOfOne: number;
}

/** Without an asker it is the service. */
export interface PreparedAnswers<A extends PreparedAnswer = PreparedAnswer> {
  /** The cached answer if it belongs to this state. Counts as a request in either case. */
  get(key: string, tag: string, asker?: WorkOwner): A | undefined;
  /** The kept body of whatever state. */
  latest(key: string): A | undefined;
  keep(key: string, answer: A): void;
  /** Makes it once however many ask at the same time: for whoever begins, or for the service where another has asked for it too. */
  make(key: string, tag: string, work: (owner: WorkOwner) => Promise<A>, asker?: WorkOwner): Promise<A>;
  /** Those requested lately, or since the last call: what several ask for first, then the most recent. */
  demanded(demand: Demand): readonly Demanded<A>[];
}

/** Bytes that an answer takes in addition to its body and to what was asked. */
const ENTRY_BYTES = 1024;
/** A key repeats the parameters, which the answer holds as well. */
const KEY_COPIES = 2;

interface Kept<A> {
  readonly answer: A;
  /** Since `askedAt` was last written: a look at the clock would cost more than the look-up. */
  isAsked: boolean;
  /** Milliseconds of the process' clock. */
  askedAt: number;
  /** The only one who has asked for it; the service once there are several. */
  owner: WorkOwner;
}

const ownerOf = (owner: WorkOwner, asker: WorkOwner) => (owner.payer === asker.payer ? owner : SERVICE);

export function createPreparedAnswers<A extends PreparedAnswer = PreparedAnswer>(
  maxBytes: number,
  now: () => number = () => performance.now(),
): PreparedAnswers<A> {
  const kept = new LRUCache<string, Kept<A>>({
    // 0 bytes keep nothing: every answer is larger than 1. No number of entries: room for all of them would be made at the start.
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
