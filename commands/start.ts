/** `start`. What it runs is loaded when it runs: other commands, and a wrong configuration, shall not wait for it. */
import type { Command } from './command.ts';

export const start: Command = {
  name: 'start',
  summary: 'run the service (tail, derive, price, serve) until SIGTERM',
  usage: 'Configured by the environment and VERUSTREAM_CONFIG; without a daemon it plays the bundled recording.',
  run: async (context) => (await import('./run-service.ts')).runService(context),
};
