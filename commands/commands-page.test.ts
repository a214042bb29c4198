import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import outputSchema from '../schemas/command-output.json' with { type: 'json' };
import { commandsPage } from '../test/support/commands/commands-page.ts';
import type { CommandSpec } from './command.ts';
import { COMMANDS } from './command-table.ts';

it('docs/commands.md is generated from the table', async () => {
  await expect(commandsPage()).toMatchFileSnapshot('../docs/commands.md');
});

it('the README has a line for each command', () => {
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
  const missing = Object.keys(COMMANDS).filter((name) => !readme.includes(`\n| \`${name.split(' ')[0]}\` |`));
  expect(missing).toEqual([]);
});

it('every command with --json has a schema, and no other command has one', () => {
  const withJson = Object.entries<CommandSpec>(COMMANDS).filter(([, { json }]) => json);
  const published = outputSchema.oneOf.map(({ $ref }) => $ref.replace('#/$defs/', ''));
  expect(published.toSorted()).toEqual(withJson.map(([name]) => name.replace(' ', '-')).toSorted());
});
