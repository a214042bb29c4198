/** Starts the HTTP facade over the embedded engine (see http-facade.ts) as a child process. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { NODE_FLAGS } from '../node-flags.ts';

export interface ClickHouseFacade {
  /** URL of the database `default`. */
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

export async function startClickHouseFacade(folder: string, refusedKills = 0): Promise<ClickHouseFacade> {
  const child = fork(new URL('./http-facade.ts', import.meta.url), [folder, String(refusedKills)], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    execArgv: [...NODE_FLAGS],
  });
  if (!child.stdout) throw new Error('the facade has no output');
  const [url] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  child.unref();
  child.channel?.unref();
  return {
    url: `${url}/default`,
    pid: child.pid ?? 0,
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    },
  };
}
