import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { BlockRef } from '../../../domain/block-ref.ts';
import { DaemonUnreachable } from '../../../infra/verusd/daemon-errors.ts';
import type { ForwardOptions } from '../../../infra/verusd/verusd-client.ts';
import { readRpcBody } from '../../../schemas/verusd/rpc-body.ts';
import type { RpcRequest } from '../../../schemas/verusd/rpc-envelope.ts';
import { createDaemonLanes } from '../../access/lane-daemons.ts';
import { SERVICE } from '../../access/priority-lanes.ts';
import { daemonForm } from '../methods/method-table.ts';
import type { DaemonMethod } from '../methods/rpc-method.ts';
import { createUpstream } from './upstream.ts';

const FINALITY = 10;

function world() {
  const sent: { body: string; options: ForwardOptions }[] = [];
  const state = {
    tip: { height: 100, hash: 'a' } as BlockRef | null,
    /** Makes the result of the next calls. */
    answer: async (call: string): Promise<string> => JSON.stringify(`${call.length} ${sent.length}`),
  };
  const forward = async (body: string | Uint8Array, options: ForwardOptions) => {
    const text = Buffer.from(body).toString();
    sent.push({ body: text, options });
    const result = await state.answer(text);
    const id = /"id":(.*)\}$/.exec(text)?.[1] ?? 'null';
    const isError = result.startsWith('{"code"');
    const head = isError ? `{"result":null,"error":${result}` : `{"result":${result},"error":null`;
    return { status: isError ? 500 : 200, body: Buffer.from(`${head},"id":${id}}\n`) };
  };
  const upstream = createUpstream({
    daemon: { forward },
    lanes: createDaemonLanes(),
    tip: () => state.tip,
    finalityDepth: FINALITY,
    mayBeSent: () => undefined,
  });
  const call = async (method: string, params: string, id = '1') => {
    const read = readRpcBody(Buffer.from(`{"method":"${method}","params":${params},"id":${id}}`));
    const request = (read as { request: RpcRequest }).request;
    const form = daemonForm(method, request.texts.length) as DaemonMethod;
    const { body, end = '' } = upstream.kept(request, form, SERVICE) ?? (await upstream.ask(request, form, SERVICE));
    return `${Buffer.from(body)}${end}`;
  };
  return { state, sent, call };
}

const HASH = `"${'0'.repeat(64)}"`;
const SUPPLY = '{"result":"success","coin":"VRSCTEST","height":50,"supply":1.00000000}';

test('a repeatable read is sent once per block, and each caller gets its own id back', async () => {
  const { state, sent, call } = world();
  const first = await call('getblock', `[${HASH}]`, '"x"');
  expect(await call('getblock', ` [ ${HASH} ] `, '[1.0]')).toBe(first.replace('"id":"x"', '"id":[1.0]'));
  expect(sent.length).toBe(1);
  state.tip = { height: 101, hash: 'b' };
  expect(await call('getblock', `[${HASH}]`, '"x"')).not.toBe(first);
  expect(sent.length).toBe(2);
});

test('a reorganisation invalidates answers of the tip: another block at the same height is another tip', async () => {
  const { state, sent, call } = world();
  state.answer = async () => SUPPLY;
  await call('coinsupply', '["99"]');
  await call('coinsupply', '["90"]');
  await call('getblock', `[${HASH},0]`);
  state.tip = { height: 100, hash: 'of another branch' };
  await call('coinsupply', '["99"]');
  expect(sent.length).toBe(4);
  await call('coinsupply', '["90"]');
  await call('getblock', `[${HASH},0]`);
  expect(sent.length).toBe(4);
});

test('a rewind below finality, which an operator accepts, invalidates answers for settled heights', async () => {
  const { state, sent, call } = world();
  state.answer = async () => SUPPLY;
  await call('coinsupply', '["50"]');
  state.tip = { height: 60, hash: 'z' };
  await call('coinsupply', '["50"]');
  expect(sent.length).toBe(2);
  state.tip = { height: 100, hash: 'y' };
  await call('coinsupply', '["50"]');
  expect(sent.length).toBe(2);
});

test('an answer of a daemon that lags behind a settled height is not cached; a later one is', async () => {
  const { state, sent, call } = world();
  state.answer = async () => '{"error":"invalid height"}';
  const ids = ['1', '"two"'];
  expect(await Promise.all(ids.map((id) => call('coinsupply', '["50"]', id)))).toEqual(
    ids.map((id) => `{"result":{"error":"invalid height"},"error":null,"id":${id}}\n`),
  );
  expect(sent.length).toBe(1);
  state.answer = async () => SUPPLY;
  for (const id of ids) expect(await call('coinsupply', '["50"]', id)).toContain(SUPPLY);
  expect(sent.length).toBe(2);
});

test.each(['0', '50', '"50"', '"10,50,10"'])(
  'the state of a currency at %s is requested once per block',
  async (height) => {
    const { state, sent, call } = world();
    const ask = () => call('getcurrencystate', `["Bridge.vETH",${height}]`);
    expect(await ask()).toBe(await ask());
    expect(sent.length).toBe(1);
    state.tip = { height: 101, hash: 'b' };
    await ask();
    expect(sent.length).toBe(2);
  },
);

test.each([
  ['getblock', `[${HASH},2]`],
  ['getrawtransaction', `[${HASH}]`],
  ['getrawtransaction', `[${HASH},0]`],
  ['getrawtransaction', `[${HASH},1]`],
  ['getidentity', '["alice@",-1]'],
  ['getidentity', '["alice@","-1"]'],
  ['gettxout', `[${HASH},0]`],
  ['getrawmempool', '[]'],
  ['getinfo', '[]'],
  ['estimateconversion', '[{}]'],
  ['convertpassphrase', '["x"]'],
  ['sendrawtransaction', '["00"]'],
])('%s %s is sent every time', async (method, params) => {
  const { sent, call } = world();
  await Promise.all([call(method, params), call(method, params)]);
  await call(method, params);
  expect(sent.length).toBe(3);
});

test('answers of the tip are not cached without an indexed block', async () => {
  const { state, sent, call } = world();
  state.tip = null;
  await call('getblock', `[${HASH}]`);
  await call('getblock', `[${HASH}]`);
  expect(sent.length).toBe(2);
});

test('concurrent callers share one answer; errors are shared but never cached', async () => {
  const { state, sent, call } = world();
  state.answer = async () => '{"code":-5,"message":"Block not found"}';
  const ids = ['1', '"two"', 'null'];
  const answers = await Promise.all(ids.map((id) => call('getblock', `[${HASH}]`, id)));
  expect(sent.length).toBe(1);
  expect(answers).toEqual(
    ids.map((id) => `{"result":null,"error":{"code":-5,"message":"Block not found"},"id":${id}}\n`),
  );
  await call('getblock', `[${HASH}]`);
  expect(sent.length).toBe(2);
});

test('a broadcast is sent to one daemon only and not retried after a failure', async () => {
  const { state, sent, call } = world();
  state.answer = async () => {
    throw new DaemonUnreachable('gone');
  };
  await expect(call('sendrawtransaction', '["00"]')).rejects.toMatchObject({ code: -32603, message: 'Internal error' });
  await expect(call('getinfo', '[]')).rejects.toMatchObject({ code: -32603 });
  expect(sent.map(({ options }) => options.once)).toEqual([true, false]);
});

test('queues are bounded: further calls are refused at once, and later calls are served', async () => {
  const { state, sent, call } = world();
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  state.answer = async () => {
    await held;
    return '1';
  };
  const outcomes = Array.from({ length: 150 }, (_, n) =>
    call('getinfo', '[]', String(n)).then(
      () => 'served',
      (error: Error) => error.message,
    ),
  );
  const slow = Array.from({ length: 8 }, (_, n) =>
    call('verifychain', `[1,${n + 1}]`).catch((error: Error) => error.message),
  );
  await sleep(50);
  expect(sent.length).toBeLessThan(8);
  release();
  const results = await Promise.all(outcomes);
  expect(results.filter((outcome) => outcome === 'Work queue depth exceeded').length).toBe(45);
  expect((await Promise.all(slow)).filter((outcome) => outcome === 'Work queue depth exceeded').length).toBeGreaterThan(
    2,
  );
  expect(await call('getinfo', '[]')).toContain('"result":1');
});

test('slow calls run one at a time', async () => {
  const { state, call } = world();
  let running = 0;
  let most = 0;
  state.answer = async () => {
    most = Math.max(most, ++running);
    await sleep(5);
    running -= 1;
    return '1';
  };
  await Promise.all([1, 2, 3, 4].map((n) => call('verifychain', `[1,${n}]`)));
  expect(most).toBe(1);
});
