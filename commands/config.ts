/** `config`: the effective configuration, secrets masked. */
import { printableConfig } from '../infra/config/load-config.ts';
import type { Command } from './command.ts';

export const config: Command = {
  name: 'config',
  summary: 'print the effective configuration, secrets masked',
  usage: 'Fails, naming every wrong value, when the configuration is wrong.',
  run: async ({ config: effective, print }) => {
    print(printableConfig(effective));
    return 0;
  },
};
