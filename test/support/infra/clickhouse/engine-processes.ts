/** Processes of the embedded engine, by the process that started them. */
import { readdirSync, readFileSync } from 'node:fs';

const MAIN = 'engine-process/main.ts';

/** Process ids of the running engines of a process. */
export function engineProcesses(parent: number): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && parentOf(pid) === parent && read(`/proc/${pid}/cmdline`).includes(MAIN));
}

/** Returns false for a zombie, which has ended. */
export const isRunning = (pid: number): boolean => parentOf(pid) !== null;

function parentOf(pid: number): number | null {
  const [state, parent] = read(`/proc/${pid}/stat`)
    .replace(/^.*\) /s, '')
    .split(' ');
  return parent === undefined || state === 'Z' ? null : Number(parent);
}

/** Returns an empty text for a process that has ended in the meantime. */
function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return '';
    throw error;
  }
}
