import { expect, test } from 'vitest';
import { helpOf } from './help.ts';
import { RPC_METHODS, signatureOf } from './methods/method-table.ts';

test('lists every method that is served, and no other', () => {
  for (const texts of [[], ['""']]) {
    const lines = (helpOf(texts) ?? '').split('\n').filter((line) => line !== '' && !line.startsWith('=='));
    const served = Object.entries(RPC_METHODS).map(([name, method]) => signatureOf(name, method));
    expect(lines.sort()).toEqual(served.sort());
  }
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
