/** A second API in its own operating system process: two APIs of one process might share state through its memory. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { ApiOptions, RunningApi } from '../../api/server.ts';
import type { Config } from '../../schemas/config.ts';
import { NODE_FLAGS } from '../support/infra/node-flags.ts';

export interface SecondApiOptions extends Pick<ApiOptions, 'push' | 'webhooks' | 'keptBytes'> {
  readonly config: Config;
  readonly databaseUrl: string;
  readonly logFolder: string;
  /** False by default. */
  readonly servesPage?: boolean;
}

export interface SecondApi extends RunningApi {
  /** Kills the process like a machine that fails: nothing more is written. */
  kill(): Promise<void>;
}

const SCRIPT = fileURLToPath(new URL('./api-process.ts', import.meta.url));

/** The process ends with the test, also when the test is killed. @throws Error if it ends before it listens */
export async function startSecondProcess(options: SecondApiOptions): Promise<SecondApi> {
  const child = fork(SCRIPT, [JSON.stringify(options)], { execArgv: [...NODE_FLAGS] });
  const ended = once(child, 'exit');
  const [said] = await Promise.race([once(child, 'message'), ended]);
  if (typeof said !== 'object' || said === null)
    throw new Error(`the second API ended with ${said} before it listened`);
  return {
    port: (said as { port: number }).port,
    async close() {
      child.disconnect();
      await ended;
    },
    async kill() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
