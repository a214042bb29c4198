/** Linux counters of processes: CPU time, wake-ups, memory. */
import { readdirSync, readFileSync } from 'node:fs';

export interface Counted {
  /** CPU time in seconds. */
  readonly cpu: number;
  /** Voluntary context switches by thread. */
  readonly sleeps: ReadonlyMap<string, number>;
}

/** Clock ticks per second in /proc: 100 on every Linux that Node.js runs on. */
const TICKS = 100;

const numberAfter = (text: string, name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(text)?.[1] ?? 0);

/** Fields of /proc/PID/stat after the name, which may contain spaces. */
const fieldsOf = (path: string) =>
  readFileSync(path, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');

/** Descendants of `pid`, each before its own children. */
export function descendants(pid: number): number[] {
  const [listed = ''] = ofEach([pid], () => readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8'));
  const children = listed.trim().split(' ').filter(Boolean);
  return children.map(Number).flatMap((child) => [child, ...descendants(child)]);
}

/** `pid` and the process of its embedded ClickHouse, which counts as part of it. */
export function withEngine(pid: number): number[] {
  return [pid, ...descendants(pid).filter((child) => commandLine(child).includes('engine-process/main.ts'))];
}

/** Empty for a process that has ended. */
export const commandLine = (pid: number): string =>
  ofEach([pid], () => readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' '))[0] ?? '';

/** Results of `read` for each process, without processes that have ended. */
function ofEach<T>(pids: readonly number[], read: (pid: number) => T): T[] {
  return pids.flatMap((pid) => {
    try {
      return [read(pid)];
    } catch (error) {
      if (!['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
      return [];
    }
  });
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

/** Includes children of the process that have ended. */
function secondsOf(pid: number): number {
  return sum(fieldsOf(`/proc/${pid}/stat`).slice(11, 15).map(Number)) / TICKS;
}

/** By thread, because the count of a thread disappears when it ends. */
function sleepsOf(pid: number): [string, number][] {
  return ofEach(readdirSync(`/proc/${pid}/task`).map(Number), (thread) => {
    const status = readFileSync(`/proc/${pid}/task/${thread}/status`, 'utf8');
    return [`${pid}/${thread}`, numberAfter(status, 'voluntary_ctxt_switches')];
  });
}

export function count(pids: readonly number[]): Counted {
  return { cpu: sum(ofEach(pids, secondsOf)), sleeps: new Map(ofEach(pids, sleepsOf).flat()) };
}

/** CPU seconds and wake-ups between two samples. */
export function between(before: Counted, after: Counted): { readonly cpu: number; readonly wakeUps: number } {
  const wakeUps = Array.from(after.sleeps, ([thread, sleeps]) => sleeps - (before.sleeps.get(thread) ?? 0));
  return { cpu: after.cpu - before.cpu, wakeUps: sum(wakeUps) };
}

/** Memory of the processes in MB; shared pages are divided among the processes that use them. */
export function proportionalMb(pids: readonly number[]): number {
  return sum(ofEach(pids, (pid) => numberAfter(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'), 'Pss'))) / 1000;
}

/** Resident memory of the processes in MB, and the sum of their individual peaks. */
export function residentMb(pids: readonly number[]): { readonly now: number; readonly peak: number } {
  const statuses = ofEach(pids, (pid) => readFileSync(`/proc/${pid}/status`, 'utf8'));
  const total = (name: string) => sum(statuses.map((status) => numberAfter(status, name))) / 1000;
  return { now: total('VmRSS'), peak: total('VmHWM') };
}
