/** Processes of the embedded engine that a process of the program has started. */
import { readdirSync, readFileSync } from 'node:fs';

const MAIN = 'engine-process/main.ts';

/** Ids; those that have ended are not among them. */
export function engineProcesses(parent: number): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && parentOf(pid) === parent && read(`/proc/${pid}/cmdline`).includes(MAIN));
}

/** A zombie has ended. */
export const isRunning = (pid: number): boolean => parentOf(pid) !== null;

function parentOf(pid: number): number | null {
  const [state, parent] = read(`/proc/${pid}/stat`)
    .replace(/^.*\) /s, '')
    .split(' ');
  return parent === undefined || state === 'Z' ? null : Number(parent);
}

/** Empty for a process that has ended meanwhile. */
function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return '';
    throw error;
  }
}
