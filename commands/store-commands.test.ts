/** Failures of commands on the stores: each has a code, also when a store dies, or the caller gives up, in the middle. */
import { pino } from 'pino';
import { expect, it } from 'vitest';
import { loadConfig } from '../infra/config/load-config.ts';
import { ConnectionLostError } from '../infra/postgres/connection-errors.ts';
import { collectedOutput } from '../test/support/commands/collected-output.ts';
import type { StoreContext } from './command.ts';
import { answerControl } from './store-commands.ts';

const NEVER = new AbortController().signal;

/** Answers a command on a Postgres whose statements and transactions fail with `error`. */
function answered(command: string, error: Error, signal = NEVER): Promise<number> {
  const fail = () => Promise.reject(error);
  const postgres = { pool: { query: fail, connect: fail }, transaction: fail };
  const context = { config: loadConfig({}), stores: { postgres }, logger: pino({ level: 'silent' }) };
  const answer = answerControl(context as unknown as Omit<StoreContext, 'signal'>);
  return answer({ command, args: [] }, collectedOutput().output, signal);
}

it.each(['status', 'audit', 'verify', 'reprocess'])(
  '%s names the state of a Postgres that dies meanwhile',
  async (command) => {
    const ended = Object.assign(new Error('terminating connection due to administrator command'), { code: '57P01' });
    await expect(answered(command, ended)).rejects.toMatchObject({ code: 'postgres_unreachable' });
    await expect(answered(command, new ConnectionLostError('lost'))).rejects.toMatchObject({
      code: 'postgres_unreachable',
    });
  },
);

it.each(['audit', 'verify'])('%s that is stopped says so', async (command) => {
  const stopped = AbortSignal.abort();
  const failure = new DOMException('This operation was aborted', 'AbortError');
  await expect(answered(command, failure, stopped)).rejects.toMatchObject({ code: 'command_stopped' });
});

it('an error that is neither of a store nor of a stop stays as it is', async () => {
  const bug = new TypeError('a bug');
  await expect(answered('status', bug)).rejects.toBe(bug);
});
