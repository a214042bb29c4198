/** How each block changed the made-up chain's state, so that a reorganisation can take it back. */

export interface Journal {
  /** Assigns, and remembers what was there. */
  set<T extends object, K extends keyof T>(target: T, key: K, value: T[K]): void;
  push<T>(list: T[], item: T): void;
  /** Remembers how to undo what was just done. */
  did(undo: () => void): void;
  /** Ends a block. */
  close(): void;
  /** Undoes the newest `blocks` closed blocks. Throws RangeError when it does not remember as many. */
  undo(blocks: number): void;
}

/** Remembers the newest `depth` blocks; with 0 nothing at all. */
export function createJournal(depth: number): Journal {
  const blocks: (() => void)[][] = [];
  let open: (() => void)[] = [];
  const did = (undo: () => void): void => {
    if (depth > 0) open.push(undo);
  };
  return {
    did,
    set(target, key, value) {
      const before = target[key];
      target[key] = value;
      did(() => {
        target[key] = before;
      });
    },
    push(list, item) {
      list.push(item);
      did(() => {
        list.pop();
      });
    },
    close() {
      if (depth === 0) return;
      blocks.push(open);
      open = [];
      if (blocks.length > depth) blocks.shift();
    },
    undo(count) {
      if (count > blocks.length) throw new RangeError(`cannot undo ${count} blocks, ${blocks.length} are remembered`);
      for (let undone = 0; undone < count; undone++) for (const undo of blocks.pop()?.reverse() ?? []) undo();
    },
  };
}
