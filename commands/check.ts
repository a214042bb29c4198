/** `check`. What it asks with is loaded when it runs. */
import type { Command } from './command.ts';

export const check: Command = {
  name: 'check',
  summary: 'ask daemons, log, stores and this machine whether the service can run, and say what to mend',
  usage: [
    'check [--json]: one line a finding, right, note or WRONG, each with what is to be done. Changes nothing, beside a',
    'running service too. Exit code 1 when something is wrong.',
  ].join('\n'),
  run: async (context) => (await import('./check/run-check.ts')).runCheck(context),
};
