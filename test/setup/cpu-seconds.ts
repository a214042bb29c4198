/**
 * Prints the CPU time of a test file (MEASURE_CPU=1): its own process, including the embedded ClickHouse, and all processes that it
 * started, running or ended. On a busy machine this is more meaningful than the elapsed time.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, expect } from 'vitest';

/** Ticks of the times in /proc. */
const TICKS_A_SECOND = 100;

interface ProcessTimes {
  readonly parent: number;
  /** CPU time of the process and of its children that have ended. */
  readonly ticks: number;
}

function timesOf(pid: string): ProcessTimes | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    const [parent = 0, ticks] = [fields[1], fields.slice(11, 15).reduce((sum, time) => sum + time, 0)];
    return { parent, ticks };
  } catch {
    return null; // the process has ended in the meantime
  }
}

function cpuSeconds(): number {
  const processes = new Map<number, ProcessTimes>();
  for (const name of readdirSync('/proc')) {
    const times = /^\d+$/.test(name) ? timesOf(name) : null;
    if (times) processes.set(Number(name), times);
  }
  const isOurs = (pid: number): boolean => {
    for (let at = pid; at > 1; at = processes.get(at)?.parent ?? 0) if (at === process.pid) return true;
    return false;
  };
  let ticks = 0;
  for (const [pid, times] of processes) if (isOurs(pid)) ticks += times.ticks;
  return ticks / TICKS_A_SECOND;
}

/** Measured before the test file is imported. */
const before = cpuSeconds();

afterAll(() => {
  console.log(`cpu: ${(cpuSeconds() - before).toFixed(1)} s ${expect.getState().testPath}`);
});
