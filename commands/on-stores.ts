/** A command on the stores, asked of the running service or run on the folder itself. */
import { askService } from '../infra/control-socket/control-socket.ts';
import { usesDataFolder } from '../schemas/config.ts';
import type { Command } from './command.ts';

export function onStores(name: string, summary: string, usage: string): Command {
  return {
    name,
    summary,
    usage,
    async run({ config, args, logger, print, signal }) {
      if (usesDataFolder(config)) {
        const answered = await askService(config.dataDir, { command: name, args }, print);
        if (answered !== null) return answered;
      }
      // Loaded only now: who asks a running service shall not wait for it.
      const { STORE_COMMANDS } = await import('./control-commands.ts');
      const { openResources } = await import('./open-resources.ts');
      const run = STORE_COMMANDS[name];
      if (!run) throw new Error(`no command ${name}`);
      const resources = await openResources(config, logger);
      try {
        return await run({ config, ...resources, logger }, args, print, signal);
      } finally {
        await resources.close();
      }
    },
  };
}
