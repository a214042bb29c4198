/** Processes of the embedded engine that a process of the program has started. */
import { readdirSync, readFileSync } from 'node:fs';

const MAIN = 'engine-process/main.ts';

/** Ids; those that have ended are not among them. */
export function engineProcesses(parent: number): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && isEngineOf(pid, parent));
}

function isEngineOf(pid: number, parent: number): boolean {
  try {
    const [state, parentId] = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
    const isZombie = state === 'Z';
    return !isZombie && Number(parentId) === parent && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(MAIN);
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return false; // it has ended meanwhile
    throw error;
  }
}
