import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { type MethodExample, methodPage, recordedExamples } from '../../test/support/api/rpc/method-page.ts';
import { RPC_METHODS } from './methods/method-table.ts';

const RECORDING = new URL('../../recordings/private-network/', import.meta.url).pathname;
/** Written and checked by test/api/conformance/json-rpc.ts, which runs a whole service. */
const EXTENSIONS = new URL('../../test/support/api/rpc/extension-examples.json', import.meta.url);

test('docs/json-rpc.md matches the method table and the recording', async () => {
  const ours = Object.entries(JSON.parse(readFileSync(EXTENSIONS, 'utf8')) as Record<string, MethodExample>);
  const examples = new Map([...recordedExamples(RECORDING), ...ours]);
  const page = methodPage(examples);
  for (const name of Object.keys(RPC_METHODS)) expect(page).toContain(`### ${name}\n`);
  expect(Object.keys(RPC_METHODS).filter((name) => !examples.has(name))).toEqual([]);
  await expect(page).toMatchFileSnapshot('../../docs/json-rpc.md');
});
