/** Bodies kept until the state that they were made from changes; the least recently asked go first. */
export interface PreparedAnswer {
  /** State that the body was made from. */
  readonly tag: string;
  readonly body: Uint8Array;
  /** Only for those who asked while it was made. */
  readonly transient?: boolean;
}

export interface PreparedAnswers<A extends PreparedAnswer = PreparedAnswer> {
  /** The kept body when it is of this state. Somebody has asked for it, whether it is or not. */
  get(key: string, tag: string): A | undefined;
  /** The kept body of whatever state. */
  latest(key: string): A | undefined;
  keep(key: string, answer: A): void;
  /** Makes it once however many ask at the same time. */
  make(key: string, tag: string, work: () => Promise<A>): Promise<A>;
  /** What was asked for within this time before the last call, or since then; the most recently asked first. */
  askedWithin(milliseconds: number, most: number): readonly (readonly [key: string, answer: A])[];
}

/** What an answer takes beside its body. */
const ENTRY_BYTES = 1024;

interface Kept<A> {
  answer: A;
  /** Since `askedAt` was last written. To look at a clock, and to move it to its place, would cost more than to find it. */
  isAsked: boolean;
  /** Milliseconds of the process' clock. */
  askedAt: number;
}

export function createPreparedAnswers<A extends PreparedAnswer = PreparedAnswer>(
  maxBytes: number,
  now: () => number = () => performance.now(),
): PreparedAnswers<A> {
  /** In the order in which they were asked for, as far as that is written. */
  const kept = new Map<string, Kept<A>>();
  const making = new Map<string, Promise<A>>();
  let bytes = 0;

  const sizeOf = (answer: A | undefined) => (answer ? answer.body.byteLength + ENTRY_BYTES : 0);

  function drop(key: string): void {
    bytes -= sizeOf(kept.get(key)?.answer);
    kept.delete(key);
  }

  /** Writes down whether it was asked for. */
  function note(key: string, entry: Kept<A>): boolean {
    if (!entry.isAsked) return false;
    entry.isAsked = false;
    entry.askedAt = now();
    kept.delete(key);
    kept.set(key, entry);
    return true;
  }

  function keep(key: string, answer: A): void {
    if (answer.transient) {
      drop(key);
      return;
    }
    const known = kept.get(key);
    bytes += sizeOf(answer) - sizeOf(known?.answer);
    if (known) known.answer = answer;
    else kept.set(key, { answer, isAsked: false, askedAt: now() });
    // Those that were asked for move to the end, where they are met again without having been asked for.
    for (const [oldest, entry] of kept) {
      if (bytes <= maxBytes) break;
      if (!note(oldest, entry)) drop(oldest);
    }
  }

  return {
    get(key, tag) {
      const found = kept.get(key);
      if (!found) return undefined;
      found.isAsked = true;
      return found.answer.tag === tag ? found.answer : undefined;
    },
    latest: (key) => kept.get(key)?.answer,
    keep,
    async make(key, tag, work) {
      const flight = `${tag} ${key}`;
      let answer = making.get(flight);
      if (!answer) {
        answer = work().finally(() => making.delete(flight));
        making.set(flight, answer);
        answer.then(
          (made) => keep(key, made),
          () => undefined,
        );
      }
      return answer;
    },
    askedWithin(milliseconds, most) {
      for (const [key, entry] of [...kept]) note(key, entry);
      const since = now() - milliseconds;
      const asked = [...kept].filter(([, { askedAt }]) => askedAt >= since);
      return asked
        .slice(-most)
        .reverse()
        .map(([key, { answer }]) => [key, answer] as const);
    },
  };
}
