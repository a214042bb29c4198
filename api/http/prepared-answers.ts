/** Bodies kept until the state that they were made from changes; the least recently asked go first. */
import { LRUCache } from 'lru-cache';
import { createFlights } from '../../infra/shared.ts';

export interface PreparedAnswer {
  /** State that the body was made from. */
  readonly tag: string;
  readonly body: Uint8Array;
  /** Serves only the requests that arrived while it was being made. */
  readonly transient?: boolean;
}

export interface PreparedAnswers<A extends PreparedAnswer = PreparedAnswer> {
  /** The cached answer if it belongs to this state. Counts as a request in either case. */
  get(key: string, tag: string): A | undefined;
  /** The kept body of whatever state. */
  latest(key: string): A | undefined;
  keep(key: string, answer: A): void;
  /** Makes it once however many ask at the same time. */
  make(key: string, tag: string, work: () => Promise<A>): Promise<A>;
  /** Keys requested within this time before the last call, or since; the most recent first. */
  askedWithin(milliseconds: number, most: number): readonly (readonly [key: string, answer: A])[];
}

/** Bytes that an answer takes in addition to its body. */
const ENTRY_BYTES = 1024;

interface Kept<A> {
  readonly answer: A;
  /** Since `askedAt` was last written: a look at the clock would cost more than the look-up. */
  isAsked: boolean;
  /** Milliseconds of the process' clock. */
  askedAt: number;
}

export function createPreparedAnswers<A extends PreparedAnswer = PreparedAnswer>(
  maxBytes: number,
  now: () => number = () => performance.now(),
): PreparedAnswers<A> {
  const kept = new LRUCache<string, Kept<A>>({
    // 0 bytes keep nothing: every answer is larger than 1. No number of entries: room for all of them would be made at the start.
    maxSize: Math.max(1, maxBytes),
    sizeCalculation: ({ answer }) => answer.body.byteLength + ENTRY_BYTES,
  });
  const flights = createFlights<string, A>();

  function keep(key: string, answer: A): void {
    if (answer.transient) {
      kept.delete(key);
      return;
    }
    const { isAsked, askedAt } = kept.peek(key) ?? { isAsked: false, askedAt: now() };
    kept.set(key, { answer, isAsked, askedAt });
  }

  async function makeAndKeep(key: string, work: () => Promise<A>): Promise<A> {
    const answer = await work();
    keep(key, answer);
    return answer;
  }

  return {
    get(key, tag) {
      const found = kept.get(key);
      if (!found) return undefined;
      found.isAsked = true;
      return found.answer.tag === tag ? found.answer : undefined;
    },
    latest: (key) => kept.peek(key)?.answer,
    keep,
    make: (key, tag, work) => flights(`${tag} ${key}`, () => makeAndKeep(key, work)),
    askedWithin(milliseconds, most) {
      const at = now();
      const since = at - milliseconds;
      for (const entry of kept.values()) if (entry.isAsked) [entry.isAsked, entry.askedAt] = [false, at];
      return [...kept.entries()]
        .filter(([, { askedAt }]) => askedAt >= since)
        .sort(([, one], [, other]) => other.askedAt - one.askedAt)
        .slice(0, most)
        .map(([key, { answer }]) => [key, answer] as const);
    },
  };
}
