/** Measures how long a process blocks its event loop, in CPU time, which other processes do not stretch. */
export interface LoopTurns {
  /** Most milliseconds of CPU time between two turns of the event loop. */
  longest(): number;
  stop(): void;
}

/** @param onTurn called at each turn of the event loop */
export function watchLoopTurns(onTurn: () => void = () => undefined): LoopTurns {
  let isOver = false;
  let longest = 0;
  let cpu = process.cpuUsage();
  const turn = () => {
    const { user, system } = process.cpuUsage(cpu);
    cpu = process.cpuUsage();
    longest = Math.max(longest, (user + system) / 1000);
    onTurn();
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  return {
    longest: () => longest,
    stop() {
      isOver = true;
    },
  };
}

/** Counts the turns of the event loop until `work` is done; `others` runs in each of them. */
export async function turnsDuring(work: Promise<unknown>, others?: () => void): Promise<number> {
  let turns = 0;
  const watch = watchLoopTurns(() => {
    turns += 1;
    others?.();
  });
  await work;
  watch.stop();
  return turns;
}
