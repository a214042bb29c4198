/** Keeps what a command writes, for tests. */
import type { Output } from '../../../commands/command.ts';
import type { ControlOutput } from '../../../infra/control-socket/control-socket.ts';

export function collectedOutput() {
  const lines: string[] = [];
  const notes: string[] = [];
  const line = (text: string) => void lines.push(text);
  const progress = (text: string) => void notes.push(text);
  const output: Output & ControlOutput = { line, print: line, progress };
  return { output, lines, notes };
}
