/** Runs a work at once with some others; those beyond wait, first come, first served. */
export type Turns = <T>(work: () => Promise<T>) => Promise<T>;

export function createTurns(most: number): Turns {
  let free = most;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else free += 1;
    }
  };
}

/** For work that waits for no other. */
export const AT_ONCE: Turns = (work) => work();
