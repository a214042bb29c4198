import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { DaemonStatus } from '../../schemas/daemon-status.ts';
import { createBlockTree } from '../../test/support/infra/verusd/block-tree.ts';
import { type ScriptedDaemon, startScriptedDaemon } from '../../test/support/infra/verusd/scripted-daemon.ts';
import { createDaemonGroup } from './daemon-group.ts';
import type { VerusdClient } from './verusd-client.ts';

const CHAIN = 'iJhCezBExJHvtyH3fGhNnt2NhU4Ztkf2yq';
const OTHER_CHAIN = 'i5w5MuNik5NtLcYmNzcvaoixooEebB6MGV';

let first: ScriptedDaemon;
let second: ScriptedDaemon;
let group: VerusdClient;
let known: readonly DaemonStatus[] = [];

beforeEach(async () => {
  first = await startScriptedDaemon();
  second = await startScriptedDaemon();
});
afterEach(async () => {
  await group.close();
  await first.stop();
  await second.stop();
});

const connect = (everyMs = 600_000, timeoutMs = 60_000, chainId?: string) => {
  group = createDaemonGroup({
    rpc: [first.rpc, second.rpc],
    chain: 'vrsc',
    ...(chainId !== undefined && { chainId }),
    logger: pino({ level: 'silent' }),
    timeoutMs,
    timing: { everyMs, timeoutMs },
    report: (statuses) => {
      known = statuses;
    },
  });
};
const asked = (daemon: ScriptedDaemon, method: string) => daemon.calls.filter((call) => call.method === method).length;
const forward = (method: string, once = false) =>
  group.forward(`{"id":1,"method":"${method}","params":[]}`, { label: method, once });

async function until(holds: () => boolean): Promise<void> {
  for (let tries = 0; tries < 1500 && !holds(); tries++) await sleep(20);
  expect(holds()).toBe(true);
}

test.each([
  ['is down', { kind: 'close' }],
  ['answers garbage', { kind: 'garbage' }],
  ['is cut off', { kind: 'cut' }],
  ['is busy', { kind: 'http', status: 500, body: 'Work queue depth exceeded' }],
  ['is warming up', { kind: 'error', code: -28, message: 'Loading block index...' }],
  ['hangs', { kind: 'delay', ms: 60_000 }],
] as const)('when the first daemon %s, the second is asked at once and from then on', async (_, fault) => {
  connect(undefined, fault.kind === 'delay' ? 2_000 : undefined);
  first.fault = ({ method }) => (method === 'getbestblockhash' ? fault : null);
  expect((await forward('getbestblockhash')).status).toBe(200);
  expect([asked(first, 'getbestblockhash'), asked(second, 'getbestblockhash')]).toEqual([1, 1]);
  expect(await group.call('getbestblockhash', [])).toBe(second.tree.tip().hash);
  expect([asked(first, 'getbestblockhash'), asked(second, 'getbestblockhash')]).toEqual([1, 2]);
});

test('a call that must not happen twice is sent once', async () => {
  connect();
  first.fault = ({ method }) => (method === 'sendrawtransaction' ? { kind: 'close' } : null);
  await expect(forward('sendrawtransaction', true)).rejects.toMatchObject({ code: 'daemon_unreachable' });
  expect([asked(first, 'sendrawtransaction'), asked(second, 'sendrawtransaction')]).toEqual([1, 0]);
  await forward('sendrawtransaction', true);
  expect([asked(first, 'sendrawtransaction'), asked(second, 'sendrawtransaction')]).toEqual([1, 1]);
});

test('a refusal counts as an answer, so no other daemon is asked', async () => {
  connect();
  await expect(group.call('getblockhash', [99_999])).rejects.toMatchObject({ rpcCode: -8 });
  expect((await forward('nosuch')).status).toBe(404);
  expect(second.calls.filter(({ method }) => method !== 'getinfo')).toEqual([]);
});

test('passes on the answer if all daemons warm up, throws the last error if all are down, and recovers by itself', async () => {
  connect(20);
  const warm = { kind: 'error', code: -28, message: 'Loading block index...' } as const;
  first.fault = () => warm;
  second.fault = () => warm;
  expect((await forward('getbestblockhash')).body.toString()).toContain('"code":-28');
  first.fault = () => ({ kind: 'close' });
  second.fault = () => ({ kind: 'close' });
  await expect(group.call('getbestblockhash', [])).rejects.toMatchObject({ code: 'daemon_unreachable' });
  first.fault = () => null;
  expect(await group.call('getbestblockhash', [])).toBe(first.tree.tip().hash);
  await until(() => group.address === new URL(first.rpc).host);
});

test('a daemon that is far behind is not asked while another is up to date', async () => {
  await second.stop();
  const tree = createBlockTree();
  tree.extend(5);
  second = await startScriptedDaemon({ tree });
  connect(20);
  await until(() => group.address === new URL(second.rpc).host);
  expect(await group.call('getblockcount', [])).toBe(tree.tip().height);
  await second.down(); // the daemon that is behind is now the best
  await until(() => group.address === new URL(first.rpc).host);
  await second.up();
  await until(() => group.address === new URL(second.rpc).host);
  first.tree.extend(5);
  await until(() => group.address === new URL(first.rpc).host);
});

test('a daemon of another chain gets no call, even if no other daemon answers', async () => {
  await first.stop();
  first = await startScriptedDaemon({ name: 'VRSC', chainId: OTHER_CHAIN });
  connect(20, 60_000, CHAIN);
  await until(() => known[0]?.fault?.code === 'wrong_chain');
  expect(await group.call('getbestblockhash', [])).toBe(second.tree.tip().hash);
  second.fault = ({ method }) => (method === 'getbestblockhash' ? { kind: 'close' } : null);
  for (const ask of [() => group.call('getbestblockhash', []), () => forward('getbestblockhash')]) {
    await expect(ask()).rejects.toMatchObject({ code: 'daemon_unreachable' });
  }
  await second.down();
  await until(() => known[1]?.fault?.code === 'daemon_unreachable');
  await expect(group.call('getbestblockhash', [])).rejects.toMatchObject({ code: 'daemon_unreachable' });
  expect(asked(first, 'getbestblockhash')).toBe(0);
});

describe('a call that may take long', () => {
  const HANGS = { kind: 'delay', ms: 600_000 } as const;
  const ask = (lateMs: number, timeoutMs: number) =>
    group.forward('{"id":1,"method":"coinsupply","params":[]}', { label: 'coinsupply', lateMs, timeoutMs });
  const faults = () => known.map(({ fault }) => fault?.code ?? null);

  test('a daemon that is late does not count as failed, and no other daemon gets the call', async () => {
    connect();
    first.fault = ({ method }) => (method === 'coinsupply' ? HANGS : null);
    await expect(ask(1_000, 2_000)).rejects.toMatchObject({ code: 'daemon_timeout' });
    expect(asked(second, 'coinsupply')).toBe(0);
    expect(group.address).toBe(new URL(first.rpc).host);
  });

  test('if no daemon is healthy, one that lags is asked before one that hangs, and may be late', async () => {
    const tip = second.tree.tip().height;
    await second.stop();
    second = await startScriptedDaemon({
      methods: { getinfo: () => ({ blocks: tip, longestchain: tip + 3 }), coinsupply: () => 'supply' },
    });
    first.fault = () => HANGS;
    connect(20, 2_000);
    await until(() => faults().join() === 'daemon_timeout,daemon_behind_peers');
    expect((await ask(20_000, 60_000)).body.toString()).toContain('supply');
    second.fault = ({ method }) => (method === 'coinsupply' ? HANGS : null);
    await expect(ask(1_000, 2_000)).rejects.toMatchObject({ code: 'daemon_timeout' });
    expect([asked(first, 'coinsupply'), asked(second, 'coinsupply')]).toEqual([0, 2]);
  });

  test('if no daemon answers the watch, each gets its share of the time until the call is late', async () => {
    await second.stop();
    second = await startScriptedDaemon({ methods: { coinsupply: () => 'supply' } });
    first.fault = () => HANGS;
    second.fault = ({ method }) => (method === 'getinfo' ? HANGS : null);
    connect(20, 2_000);
    await until(() => faults().join() === 'daemon_timeout,daemon_timeout');
    expect((await ask(6_000, 60_000)).body.toString()).toContain('supply');
    expect([asked(first, 'coinsupply'), asked(second, 'coinsupply')]).toEqual([1, 1]);
  });
});
