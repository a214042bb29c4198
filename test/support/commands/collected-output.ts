/** Records the output of a command, for tests. */
import type { Output } from '../../../commands/command.ts';
import type { ControlOutput } from '../../../infra/control-socket/control-socket.ts';

export function collectedOutput() {
  const lines: string[] = [];
  const notes: string[] = [];
  const line = (text: string) => void lines.push(text);
  let begun = '';
  const piece = async (text: string) => {
    const ended = (begun + text).split('\n');
    begun = ended.pop() ?? '';
    for (const each of ended) lines.push(each);
  };
  const progress = (text: string) => void notes.push(text);
  const write = async (texts: Iterable<string>) => piece([...texts].join(''));
  const output: Output & ControlOutput = { line, print: line, progress, write, piece };
  return { output, lines, notes };
}
