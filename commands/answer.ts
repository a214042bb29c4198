/** Prints a command's output: as text while it runs, or with `--json` as one document at the end. */
import type { ControlOutput } from '../infra/control-socket/control-socket.ts';
import type { CommandOutcome, Output } from './command.ts';
import type { ParsedCommand } from './parse-command.ts';

/** Version of schemas/command-output.json; rises when a member is removed or changes its meaning. */
const OUTPUT_VERSION = 1;

/** → exit code */
export async function answer(
  { name, json }: ParsedCommand,
  { print, progress }: ControlOutput,
  run: (output: Output) => Promise<CommandOutcome>,
): Promise<number> {
  const { exitCode, state } = await run({ line: json ? () => undefined : print, progress });
  if (json) print(JSON.stringify({ command: name, version: OUTPUT_VERSION, ...state }));
  return exitCode;
}
