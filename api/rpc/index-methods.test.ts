/** The methods of the index while the index is far behind its daemon: its answers would contradict those of the daemon. */
import { expect, it } from 'vitest';
import { CHAIN, createDoubleService } from '../../test/support/api/rpc/double-service.ts';
import { textOf } from '../../test/support/api/rpc/recorded-service.ts';

const HASH = 'ab'.repeat(32);
const OF_DAEMON = '{"result":"of the daemon","error":null,"id":1}\n';

const INDEXED = 7;

function world() {
  const state = { ofDaemon: (INDEXED + 6) as number | null };
  const { received, post } = createDoubleService({
    reply: OF_DAEMON,
    nativeCurrencyId: '',
    rows: () => [{ height: INDEXED, hash: HASH }],
    tip: () => ({ height: INDEXED, hash: HASH }),
    daemonHeight: (chain) => (chain === CHAIN ? state.ofDaemon : null),
  });
  const call = (method: string, params: string) => `{"method":"${method}","params":${params},"id":1}`;
  return { state, received, ask: async (body: string) => textOf(await post(Buffer.from(body))), call };
}

it.each([
  ['getblockcount', '[]', '7'],
  ['getbestblockhash', '[]', `"${HASH}"`],
  ['getblockhash', '[7]', `"${HASH}"`],
])('%s is answered by the daemon until the index has caught up', async (method, params, ofIndex) => {
  const { state, received, ask, call } = world();
  expect(await ask(call(method, params))).toBe(OF_DAEMON);
  expect(received).toEqual([call(method, params)]);
  for (const caughtUp of [INDEXED + 5, INDEXED, INDEXED - 1, null]) {
    state.ofDaemon = caughtUp;
    expect(await ask(call(method, params))).toBe(`{"result":${ofIndex},"error":null,"id":1}\n`);
  }
  expect(received).toHaveLength(1);
});

it('no other method is sent for that reason, and the checks of parameters stay', async () => {
  const { received, ask, call } = world();
  for (const method of ['nosuch', 'signmessage', 'getsubidentities', 'constructor']) {
    expect(await ask(call(method, '["alice@"]'))).toContain('"code":-32601');
  }
  for (const params of ['[{"filename":"x"}]', '["\\u0000"]', `[${'[['.repeat(40)}${']]'.repeat(40)}]`, '[["x"]]']) {
    expect(await ask(call('getblockhash', params))).toContain('"result":null');
  }
  expect(received).toEqual([]);
});
