/** A second API as an operating system process of its own: what holds between two of one process may be held by its memory. */
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
  /** None by default. */
  readonly servesPage?: boolean;
}

export interface SecondApi extends RunningApi {
  /** As a machine that fails: nothing is written any more. */
  kill(): Promise<void>;
}

const SCRIPT = fileURLToPath(new URL('./api-process.ts', import.meta.url));

/** It ends with the test, also when that is killed. @throws Error when it ends before it listens */
export async function startSecondProcess(options: SecondApiOptions): Promise<SecondApi> {
  const child = fork(SCRIPT, [JSON.stringify(options)], { execArgv: [...NODE_FLAGS] });
  const ended = once(child, 'exit');
  const [said] = await Promise.race([once(child, 'message'), ended]);
  if (typeof said !== 'object' || said === null)
    throw new Error(`the API beside ended with ${said} before it listened`);
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
