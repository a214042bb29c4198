import { expect, it } from 'vitest';
import { helpOf, listCommands, usageOf } from './help.ts';

it('shows usage, arguments, options and notes', () => {
  expect(usageOf('keys')).toBe('keys <chain> <identity> [free|developer|pro] [--json]');
  expect(usageOf('dead-letters show')).toBe('dead-letters show <chain> <height> [ordinal] [--json]');
  expect(usageOf('start')).toBe('start');
  const help = helpOf('reprocess');
  expect(help).toContain('  --drop GENERATION  remove the generation that is not served\n');
  expect(help).toContain('\nWithout options it lists the generations.\n');
  expect(listCommands('1.2.3')).toMatch(
    /^verustream 1\.2\.3\n[\s\S]*\n {2}dead-letters redrive {2}derive a chain again/,
  );
});
