/** `config`: prints the effective configuration with secrets masked. */
import { printableConfig } from '../infra/config/load-config.ts';
import type { CommandContext, CommandOutcome, Output } from './command.ts';

export async function run(
  { config }: Pick<CommandContext, 'config'>,
  _input: object,
  { line }: Output,
): Promise<CommandOutcome> {
  const text = printableConfig(config);
  line(text);
  return { exitCode: 0, state: { configuration: JSON.parse(text) } };
}
