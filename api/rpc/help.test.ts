import { expect, test } from 'vitest';
import { helpOf } from './help.ts';
import { RPC_METHODS } from './methods/method-table.ts';

test('the list of all is the daemon’s', () => {
  for (const texts of [[], ['""']]) expect(helpOf(texts)).toBeNull();
});

test('of a method that the daemon answers, the daemon tells more', () => {
  for (const [name, { source }] of Object.entries(RPC_METHODS)) {
    const help = helpOf([JSON.stringify(name)]);
    if (source === 'daemon') expect(help).toBeNull();
    else expect(help).toMatch(new RegExp(`^${name}\\b[^]*\\n$`));
  }
});

test('knows nothing of what is not served', () => {
  for (const name of ['stop', 'dumpprivkey', 'constructor', '__proto__']) {
    expect(helpOf([JSON.stringify(name)])).toBe(`help: unknown command: ${name}`);
  }
  expect([helpOf(['5']), helpOf(['"a"', '"b"'])]).toEqual([null, null]);
});
