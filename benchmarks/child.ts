/** A server that is measured as users meet it: in a process of its own. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

export interface Child<Report> {
  /** The first message of the script, which says where it listens. */
  readonly report: Report;
  kill(): void;
}

/** `script`: below this folder, without its ending. @throws Error when it ends before it said anything */
export async function startChild<Report>(script: string, ...args: string[]): Promise<Child<Report>> {
  const child = fork(fileURLToPath(new URL(`${script}.ts`, import.meta.url)), args);
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`${script} ended with ${code} before it listened`);
  });
  const [report] = await Promise.race([once(child, 'message'), ended]);
  ended.catch(() => undefined);
  return { report: report as Report, kill: () => child.kill('SIGINT') };
}
