import { pino } from 'pino';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createKey } from '../api/access/key-store.ts';
import type { Config } from '../schemas/config.ts';
import { storeIdentity } from '../test/support/api/access/store-identity.ts';
import { createTestStores, type TestStores } from '../test/support/infra/test-stores.ts';
import { run } from './keys.ts';

const HOLDER = { chain: 'made', identityAddress: 'i5f5njYtso65186mo5WHMkRme9YG6hrZE2' };
const config = { chains: [{ name: HOLDER.chain, networkRoot: 'MADE' }] } as unknown as Config;

let stores: TestStores;
beforeAll(async () => {
  stores = await createTestStores();
  await storeIdentity(stores.postgres, { ...HOLDER, flags: 0 });
});
afterAll(() => stores.close());

it('prints the name of a key on its own line and without its control characters', async () => {
  const name = 'böt\u001b[2J\r\n  key forged\u009b1m\u202e\u2028';
  await createKey(stores.postgres, HOLDER, name);
  const lines: string[] = [];
  const output = { line: (text: string) => void lines.push(text), write: async () => {}, progress: () => undefined };
  const context = { config, stores, logger: pino({ level: 'silent' }), signal: new AbortController().signal };
  const input = { chain: HOLDER.chain, identity: HOLDER.identityAddress, tier: undefined };
  const { state } = await run(context, input, output);
  expect(lines).toHaveLength(2);
  expect(lines[1]).toMatch(/ {2}böt\\u\{1b\}\[2J\\u\{d\}\\u\{a\} {2}key forged\\u\{9b\}1m\\u\{202e\}\\u\{2028\}$/);
  expect(state).toMatchObject({ keys: [{ name }] });
});
