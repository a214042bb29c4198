import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createVerusdClient, type VerusdClient } from '../../infra/verusd/verusd-client.ts';
import {
  type DaemonFault,
  type ScriptedDaemon,
  startScriptedDaemon,
} from '../../test/support/infra/verusd/scripted-daemon.ts';
import { CHAIN, chainConfig } from '../../test/support/pipeline/tailer/tail-bench.ts';
import { createDaemonChain, type DaemonChain } from './daemon-chain.ts';

const signal = new AbortController().signal;
let daemon: ScriptedDaemon;
const clients: VerusdClient[] = [];
let chain: DaemonChain;

beforeEach(async () => {
  daemon = await startScriptedDaemon();
  daemon.tree.extend(3);
  chain = connect();
});

afterEach(async () => {
  for (const client of clients.splice(0)) await client.close();
  await daemon.stop();
});

function connect({
  rootCurrency,
  timeoutMs = 60_000,
}: {
  rootCurrency?: string;
  timeoutMs?: number;
} = {}): DaemonChain {
  const config = chainConfig(daemon.rpc, 10, rootCurrency);
  const client = createVerusdClient({ rpc: daemon.rpc, chain: CHAIN, logger: pino({ level: 'silent' }), timeoutMs });
  clients.push(client);
  const limits = { blockTimeoutMs: timeoutMs, callTimeoutMs: timeoutMs };
  return createDaemonChain({ chain: config, client, signal, retry: { minMs: 1, maxMs: 2 }, ...limits });
}

/** The next `times` calls fail; later calls are answered. */
function fail(times: number, fault: DaemonFault): void {
  let left = times;
  daemon.fault = () => (left-- > 0 ? fault : null);
}

const questions: [string, () => Promise<unknown>, () => unknown][] = [
  ['bestHash', () => chain.bestHash(), () => daemon.tree.tip().hash],
  ['tip', () => chain.tip(), () => ({ height: 3, hash: daemon.tree.tip().hash })],
  ['hashAt', () => chain.hashAt(2), () => daemon.tree.at(2)?.hash],
  ['block', async () => (await chain.block(2, signal))?.hash, () => daemon.tree.at(2)?.hash],
];

describe.each(questions)('%s', (_, question, answer) => {
  it.each<DaemonFault>([
    { kind: 'close' },
    { kind: 'cut' },
    { kind: 'garbage' },
    { kind: 'http', status: 500, body: 'Work queue depth exceeded' },
    { kind: 'error', code: -1, message: 'injected' },
  ])('retries after a bad reply, and gives up after four attempts: %o', async (fault) => {
    fail(3, fault);
    expect(await question()).toEqual(answer());
    fail(4, fault);
    await expect(question()).rejects.toMatchObject({ code: expect.stringMatching(/^daemon_/) });
  });

  it.each<[string, DaemonFault]>([
    ['daemon_warming_up', { kind: 'error', code: -28, message: 'Loading block index...' }],
    ['daemon_auth_failed', { kind: 'http', status: 401, body: '' }],
  ])('reports at once that the daemon is unavailable: %s', async (code, fault) => {
    fail(1, fault);
    await expect(question()).rejects.toMatchObject({ code });
  });

  it('has a time limit', async () => {
    chain = connect({ timeoutMs: 200 });
    daemon.fault = () => ({ kind: 'delay', ms: 400 });
    await expect(question()).rejects.toMatchObject({ code: 'daemon_timeout' });
  });
});

it('returns null for a height that the daemon does not have', async () => {
  expect(await chain.hashAt(4)).toBeNull();
  expect(await chain.block(4, signal)).toBeNull();
});

it('accepts the name or i-address of the root currency, in any case', async () => {
  for (const name of ['VRSCTEST', 'vrsctest', 'iJhCezBExJHvtyH3fGhNnt2NhU4Ztkf2yq']) {
    await expect(connect({ rootCurrency: name }).tip()).resolves.toMatchObject({ height: 3 });
  }
  await expect(connect({ rootCurrency: 'VRSC' }).tip()).rejects.toMatchObject({ code: 'wrong_chain' });
});
