/** Runs a measured server in its own process, as in production. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

export interface Child<Report> {
  /** The first message of the script, which contains its address. */
  readonly report: Report;
  kill(): void;
}

/** `script`: path below this folder, without its extension. @throws Error when the process ends before it reports */
export async function startChild<Report>(script: string, ...args: string[]): Promise<Child<Report>> {
  const child = fork(fileURLToPath(new URL(`${script}.ts`, import.meta.url)), args);
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`${script} ended with ${code} before it listened`);
  });
  const [report] = await Promise.race([once(child, 'message'), ended]);
  ended.catch(() => undefined);
  return { report: report as Report, kill: () => child.kill('SIGINT') };
}
