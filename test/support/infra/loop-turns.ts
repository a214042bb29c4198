/** How long a process keeps its event loop to itself: in CPU time, which other processes of the machine do not stretch. */
export interface LoopTurns {
  /** Milliseconds of CPU between two turns of the event loop, at most. */
  longest(): number;
  stop(): void;
}

/** @param onTurn called at each turn */
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

/** Turns of the event loop that others have until `work` is done; `others` is their work in each of them. */
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
