/** Bodies kept until the state that they were made from changes; the least recently asked go first. */
export interface PreparedAnswer {
  /** State that the body was made from. */
  readonly tag: string;
  readonly body: Uint8Array;
  /** Only for those who asked while it was made. */
  readonly transient?: boolean;
}

export interface PreparedAnswers<A extends PreparedAnswer = PreparedAnswer> {
  /** The kept body when it is of this state. */
  get(key: string, tag: string): A | undefined;
  /** The kept body of whatever state. */
  latest(key: string): A | undefined;
  /** Makes it once however many ask at the same time. */
  make(key: string, tag: string, work: () => Promise<A>): Promise<A>;
}

export function createPreparedAnswers<A extends PreparedAnswer = PreparedAnswer>(maxBytes: number): PreparedAnswers<A> {
  const kept = new Map<string, A>();
  const making = new Map<string, Promise<A>>();
  let bytes = 0;

  function drop(key: string): void {
    bytes -= kept.get(key)?.body.byteLength ?? 0;
    kept.delete(key);
  }

  function keep(key: string, answer: A): void {
    drop(key);
    if (answer.transient) return;
    kept.set(key, answer);
    bytes += answer.body.byteLength;
    for (const oldest of kept.keys()) {
      if (bytes <= maxBytes) break;
      drop(oldest);
    }
  }

  return {
    get(key, tag) {
      const answer = kept.get(key);
      if (answer?.tag !== tag) return undefined;
      kept.delete(key);
      kept.set(key, answer);
      return answer;
    },
    latest: (key) => kept.get(key),
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
  };
}
