/** Numbers that cost a scan and stay the same until the state changes; the oldest are forgotten first. */
export interface Memo {
  /** The value of `key` at the state of `tag`; `work` runs when it is not known. */
  get<T>(key: string, tag: string, work: () => Promise<T>): Promise<T>;
}

export function createMemo(maxEntries: number): Memo {
  const kept = new Map<string, { readonly tag: string; readonly value: Promise<unknown> }>();
  return {
    async get<T>(key: string, tag: string, work: () => Promise<T>): Promise<T> {
      const known = kept.get(key);
      if (known?.tag === tag) return known.value as Promise<T>;
      const value = work();
      kept.delete(key);
      kept.set(key, { tag, value });
      const oldest = kept.size > maxEntries ? kept.keys().next().value : undefined;
      if (oldest !== undefined) kept.delete(oldest);
      value.catch(() => {
        if (kept.get(key)?.value === value) kept.delete(key);
      });
      return value;
    },
  };
}
