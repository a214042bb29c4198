/** Records how each block changes the made-up chain's state, so that a reorganisation can undo it. */

export interface Journal {
  /** Whether it can undo blocks. */
  readonly keeps: boolean;
  /** Assigns a value, and remembers the previous one. */
  set<T extends object, K extends keyof T>(target: T, key: K, value: T[K]): void;
  push<T>(list: T[], item: T): void;
  remove<T>(list: T[], item: T): void;
  /** Remembers how to undo what was just done. */
  did(undo: () => void): void;
  /** Ends a block. */
  close(): void;
  /** Undoes the newest `blocks` closed blocks. @throws RangeError when it remembers fewer */
  undo(blocks: number): void;
}

/** A journal that keeps nothing costs almost nothing, and cannot undo. */
export function createJournal(keeps: boolean): Journal {
  const blocks: (() => void)[][] = [];
  let open: (() => void)[] = [];
  const did = (undo: () => void): void => {
    if (keeps) open.push(undo);
  };
  return {
    keeps,
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
    remove(list, item) {
      const index = list.indexOf(item);
      if (index < 0) throw new RangeError('not in the list');
      list.splice(index, 1);
      did(() => {
        list.splice(index, 0, item);
      });
    },
    close() {
      if (keeps) blocks.push(open);
      open = [];
    },
    undo(count) {
      if (count > blocks.length) throw new RangeError(`cannot undo ${count} blocks, ${blocks.length} are remembered`);
      for (let undone = 0; undone < count; undone++) for (const undo of blocks.pop()?.reverse() ?? []) undo();
    },
  };
}
