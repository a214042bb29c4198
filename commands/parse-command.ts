/** Parses a command line by the table of commands. */
import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import { messageOf, UsageError } from '../schemas/errors.ts';
import type { CommandSpec } from './command.ts';
import { COMMANDS, type CommandName } from './command-table.ts';
import { usageOf } from './help.ts';

export interface ParsedCommand {
  readonly name: CommandName;
  readonly help: boolean;
  readonly json: boolean;
  /** Has the shape of InputOf<name>. */
  readonly input: object;
}

export const asksForHelp = (word: string): boolean => word === '--help' || word === '-h';

/** @throws UsageError with one line that states what is allowed */
export function parseCommand(words: readonly string[]): ParsedCommand {
  const { name, rest } = nameOf(words);
  if (rest.some(asksForHelp)) return { name, help: true, json: false, input: {} };
  const spec: CommandSpec = COMMANDS[name];
  const { values, positionals } = parsed(name, spec, rest);
  const { json = false, ...options } = values;
  return { name, help: false, json: json === true, input: { ...options, ...argumentsOf(name, spec, positionals) } };
}

/** Finds the command; a group (`dead-letters`) alone means its first command. */
function nameOf(words: readonly string[]): { name: CommandName; rest: readonly string[] } {
  const [first = '', second = ''] = words;
  const group = names().filter((name) => name.startsWith(`${first} `));
  const [fallback] = group;
  if (!fallback) {
    if (isName(first)) return { name: first, rest: words.slice(1) };
    throw new UsageError(`unknown command "${first}"; the commands are ${groups().join(', ')}`);
  }
  const name = `${first} ${second}`;
  if (isName(name)) return { name, rest: words.slice(2) };
  if (second === '' || second.startsWith('-')) return { name: fallback, rest: words.slice(1) };
  const known = group.map((one) => one.slice(first.length + 1));
  throw new UsageError(`${first} does not know "${second}"; it takes one of ${known.join(', ')}`);
}

function parsed(name: CommandName, { options, json }: CommandSpec, args: readonly string[]) {
  const known: ParseArgsOptionsConfig = { ...(json && { json: { type: 'boolean' } }) };
  for (const [option, { value }] of Object.entries(options)) known[option] = { type: value ? 'string' : 'boolean' };
  try {
    return parseArgs({ args: [...args], options: known, strict: true, allowPositionals: true });
  } catch (error) {
    // Keeps Node's message without its advice on arguments that begin with a dash.
    const [problem = ''] = messageOf(error).split(/\.?\n|\. /);
    throw wrong(name, problem);
  }
}

function argumentsOf(name: CommandName, { arguments: specs }: CommandSpec, given: readonly string[]) {
  const wanted = Object.entries(specs);
  const extra = given[wanted.length];
  if (extra !== undefined) throw wrong(name, `unexpected argument "${extra}"`);
  return Object.fromEntries(
    wanted.map(([argument, { optional, choices }], index) => {
      const text = given[index];
      if (text === undefined && !optional) throw wrong(name, `<${argument}> is missing`);
      if (text !== undefined && choices && !choices.includes(text)) {
        throw wrong(name, `"${text}" is not a ${argument}; allowed are ${choices.join(', ')}`);
      }
      return [argument, text];
    }),
  );
}

function wrong(name: CommandName, problem: string): UsageError {
  return new UsageError(`${problem}; usage: ${usageOf(name)}`);
}

function names(): CommandName[] {
  return Object.keys(COMMANDS) as CommandName[];
}

function groups(): string[] {
  return [...new Set(names().map((name) => name.split(' ')[0] ?? name))];
}

function isName(text: string): text is CommandName {
  return Object.hasOwn(COMMANDS, text);
}
