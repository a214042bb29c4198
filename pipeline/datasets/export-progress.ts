/** The progress of an export: files, rows, rate and time left. */
import type { Task } from './tasks.ts';

export interface ExportProgress {
  readonly table: string;
  /** Days of all tables. */
  readonly done: number;
  readonly total: number;
  readonly rows: number;
  readonly rowsPerSecond: number;
  readonly etaSeconds: number;
}

/** A file by itself takes about as long as the rows of this many blocks. */
const FILE_BLOCKS = 1_000;

type Work = { readonly table: Pick<Task['table'], 'name'>; readonly day: Pick<Task['day'], 'from' | 'to'> };

/** Returns a function that reports that a task has written `rows`. `now` is a monotonic clock in ms. */
export function createExportProgress(
  tasks: readonly Work[],
  report: ((progress: ExportProgress) => void) | undefined,
  now: () => number = () => performance.now(),
): (task: Work, rows: number) => void {
  const started = now();
  const workOf = ({ day }: Work) => FILE_BLOCKS + day.to - day.from + 1;
  const total = tasks.reduce((sum, task) => sum + workOf(task), 0);
  let [done, work, rows] = [0, 0, 0];
  return (task, written) => {
    done += 1;
    rows += written;
    work += workOf(task);
    const seconds = (now() - started) / 1000;
    report?.({
      table: task.table.name,
      done,
      total: tasks.length,
      rows,
      rowsPerSecond: seconds > 0 ? rows / seconds : 0,
      etaSeconds: (seconds / work) * (total - work),
    });
  };
}
