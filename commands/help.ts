/** Generates help texts from the table of commands. */
import type { CommandSpec, Option } from './command.ts';
import { COMMANDS, type CommandName } from './command-table.ts';

const JSON_OPTION = { summary: 'print the state as one JSON document and nothing else' };

/** `keys <chain> <identity> [free|developer|pro] [--json]` */
export function usageOf(name: CommandName): string {
  const spec: CommandSpec = COMMANDS[name];
  const positionals = Object.entries(spec.arguments).map(([argument, { optional, choices }]) => {
    const text = choices?.join('|') ?? argument;
    return optional ? `[${text}]` : `<${text}>`;
  });
  return [name, ...positionals, ...optionsOf(spec).map(([option]) => `[${option}]`)].join(' ');
}

export function listCommands(release: string): string {
  const lines = columns(Object.entries(COMMANDS).map(([name, { summary }]) => [name, summary]));
  return [
    `verustream ${release}`,
    '',
    'Usage: verustream <command> [--help]',
    '       verustream --version',
    '',
    ...lines,
  ].join('\n');
}

export function helpOf(name: CommandName): string {
  const spec: CommandSpec = COMMANDS[name];
  return [
    `verustream ${name}: ${spec.summary}`,
    `Usage: ${usageOf(name)}`,
    ...columns(rowsOf(spec)),
    ...spec.notes,
  ].join('\n');
}

/** Arguments and options with their descriptions. */
export function rowsOf(spec: CommandSpec): (readonly [string, string])[] {
  const positionals = Object.entries(spec.arguments).map(([name, { summary }]) => [name, summary] as const);
  return [...positionals, ...optionsOf(spec)];
}

function optionsOf({ options, json }: CommandSpec): (readonly [string, string])[] {
  const all: Readonly<Record<string, Option>> = { ...options, ...(json && { json: JSON_OPTION }) };
  return Object.entries(all).map(([option, { value, summary }]) => [
    value ? `--${option} ${value}` : `--${option}`,
    summary,
  ]);
}

function columns(rows: readonly (readonly string[])[]): string[] {
  const width = Math.max(0, ...rows.map(([first = '']) => first.length));
  return rows.map(([first = '', second = '']) => `  ${first.padEnd(width)}  ${second}`);
}
