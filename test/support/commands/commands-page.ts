/** Generates docs/commands.md from the table of commands. A test keeps the page up to date. */
import type { CommandSpec } from '../../../commands/command.ts';
import { COMMANDS, type CommandName } from '../../../commands/command-table.ts';
import { rowsOf, usageOf } from '../../../commands/help.ts';

const HEAD = [
  '# Commands',
  '',
  '<!-- Made from commands/command-table.ts: `npm test -- commands/commands-page -u` writes this page. -->',
  '',
  'Run a command with `npm run verustream -- <command>`; `--help` or `-h` after a command prints its arguments and options, and `--version` alone the version. While a service uses an embedded data folder,',
  'it runs the commands that need the stores, through a socket in that folder. Otherwise the command opens the stores itself.',
  '',
  '| exit code | meaning |',
  '|---|---|',
  '| 0 | the command succeeded, and its checks passed |',
  '| 1 | a check did not pass, or the command failed |',
  '| 2 | the command line is wrong: unknown command or option, a missing value, a chain that is not configured, an identity that the chain does not know |',
  '',
  'A failure prints one line on stderr, with a code from [errors.md](errors.md); with exit code 2 the line states what is allowed. The progress of long commands and the',
  'log also go to stderr, so stdout contains only the answer.',
  '',
  'With `--json`, stdout is one line with one JSON document; [schemas/command-output.json](../schemas/command-output.json) is its schema. The member `command`',
  'names the command. `version` is the version of the format; it rises when a member is removed or changes its meaning. Members may be added without',
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
