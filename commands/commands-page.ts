/** Generates docs/commands.md from the table of commands. A test keeps the page up to date. */
import type { CommandSpec } from './command.ts';
import { COMMANDS, type CommandName } from './command-table.ts';
import { rowsOf, usageOf } from './help.ts';

const HEAD = [
  '# Commands',
  '',
  '<!-- Made from commands/command-table.ts: `npm test -- commands/commands-page -u` writes this page. -->',
  '',
  '`npm run verustream -- <command>`; `--help` after a command prints what it takes. While a service holds an embedded data folder, it answers',
  'the commands that need the stores, through a socket in that folder; otherwise the command opens the stores itself.',
  '',
  '| exit code | means |',
  '|---|---|',
  '| 0 | the command succeeded, and what it checked holds |',
  '| 1 | what it checked does not hold, or the command failed |',
  '| 2 | the command line is wrong: unknown command or option, a missing value, a chain that is not configured, an identity that the chain does not know |',
  '',
  'A failure prints one line on stderr, with a code of [errors.md](errors.md); with exit code 2 the line says what is allowed. The progress of long commands and the',
  'log also go to stderr, so stdout holds only the answer.',
  '',
  'With `--json`, stdout is one line with one JSON document, which [schemas/command-output.json](../schemas/command-output.json) describes. Its member `command`',
  'names the command and `version` the version of the format, which rises when a member is removed or changes its meaning. Members may be added without',
  'a new version.',
  '',
];

export function commandsPage(): string {
  const sections = (Object.keys(COMMANDS) as CommandName[]).map(section);
  return `${[...HEAD, ...sections].join('\n')}`;
}

function section(name: CommandName): string {
  const spec: CommandSpec = COMMANDS[name];
  const text = [`${spec.summary.charAt(0).toUpperCase()}${spec.summary.slice(1)}.`, ...spec.notes].join(' ');
  const rows = rowsOf(spec).map(([item, summary]) => `- \`${item}\`: ${summary}\n`);
  return `## ${name}\n\`${usageOf(name)}\`\n\n${text}\n${rows.length > 0 ? `\n${rows.join('')}` : ''}`;
}
