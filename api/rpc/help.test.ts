import { expect, test } from 'vitest';
import { helpOf } from './help.ts';
import { RPC_METHODS } from './methods/method-table.ts';

test('the daemon answers for the list of all methods', () => {
  for (const texts of [[], ['""']]) expect(helpOf(texts)).toBeNull();
});

test('the daemon has the help of its methods, this service that of the others', () => {
  for (const [name, { source }] of Object.entries(RPC_METHODS)) {
    const help = helpOf([JSON.stringify(name)]);
    if (source === 'daemon') expect(help).toBeNull();
    else expect(help).toMatch(new RegExp(`^${name}\\b[^]*\\n$`));
  }
});

test('methods that are not served are unknown', () => {
  for (const name of ['stop', 'dumpprivkey', 'constructor', '__proto__']) {
    expect(helpOf([JSON.stringify(name)])).toBe(`help: unknown command: ${name}`);
  }
  expect([helpOf(['5']), helpOf(['"a"', '"b"'])]).toEqual([null, null]);
});
