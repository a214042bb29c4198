/** Prints a command's output: text while it runs, or with `--json` one document at the end. */
import { printPieces } from '../domain/json/print-pieces.ts';
import type { ControlOutput } from '../infra/control-socket/control-socket.ts';
import { createPace, restsOf } from '../infra/pace.ts';
import type { CommandOutcome, Output } from './command.ts';
import type { ParsedCommand } from './parse-command.ts';

/** Version of schemas/command-output.json; rises when a member is removed or changes its meaning. */
const OUTPUT_VERSION = 1;

/** Runs a command, prints its output and returns the exit code. */
export async function answer(
  { name, json }: ParsedCommand,
  { print, piece, progress }: ControlOutput,
  run: (output: Output) => Promise<CommandOutcome>,
): Promise<number> {
  const write = (texts: Iterable<string>) => writePieces(texts, piece);
  const output = json ? DROPPED : { line: print, write };
  const { exitCode, state } = await run({ ...output, progress });
  if (json) {
    await write(printPieces({ command: name, version: OUTPUT_VERSION, ...state }, JSON.stringify));
    await piece('\n');
  }
  return exitCode;
}

const DROPPED = { line: () => undefined, write: async () => undefined };
const PIECE_CHARACTERS = 1 << 16;
const pace = createPace({ sliceMs: 5, restMs: 0 });

async function writePieces(texts: Iterable<string>, write: ControlOutput['piece']): Promise<void> {
  let piece = '';
  const rests = restsOf(pace);
  for (const text of texts) {
    piece += text;
    if (piece.length >= PIECE_CHARACTERS) {
      await write(piece);
      piece = '';
    }
    const rest = rests();
    if (rest) await rest;
  }
  if (piece !== '') await write(piece);
}
