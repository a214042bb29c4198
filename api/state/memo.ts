/** What costs a scan and stays the same until the state changes; what nobody asked for longest is forgotten first. */
export interface Memo {
  /** The value of `key` at the state of `tag`; `work` runs when it is not known. */
  get<T>(key: string, tag: string, work: () => Promise<T>): Promise<T>;
}

interface Kept {
  readonly tag: string;
  readonly value: Promise<unknown>;
}

export function createMemo(maxEntries: number): Memo {
  const kept = new Map<string, Kept>();

  function keep(key: string, entry: Kept): void {
    kept.delete(key);
    kept.set(key, entry);
    const oldest = kept.size > maxEntries ? kept.keys().next().value : undefined;
    if (oldest !== undefined) kept.delete(oldest);
  }

  return {
    async get<T>(key: string, tag: string, work: () => Promise<T>): Promise<T> {
      const known = kept.get(key);
      const entry = known?.tag === tag ? known : { tag, value: work() };
      keep(key, entry);
      if (entry !== known) {
        entry.value.catch(() => {
          if (kept.get(key) === entry) kept.delete(key);
        });
      }
      return entry.value as Promise<T>;
    },
  };
}
