import { pino } from 'pino';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { loadConfig } from '../../infra/config/load-config.ts';
import { openZmqPublisher, type ZmqPublisher } from '../../recordings/player/zmq-publisher.ts';
import { GOOD_INFO, startGoodDaemon } from '../../test/support/commands/check/good-daemon.ts';
import type { ScriptedDaemon } from '../../test/support/infra/verusd/scripted-daemon.ts';
import { checkDaemon } from './check-daemon.ts';

const logger = pino({ level: 'silent' });
let publisher: ZmqPublisher;
beforeAll(async () => {
  publisher = await openZmqPublisher('tcp://127.0.0.1:*');
});
afterAll(() => publisher?.close());

async function findings(daemon: ScriptedDaemon, rpc = daemon.rpc, zmq = publisher.address) {
  const [chain] = loadConfig({ VERUSD_VRSC: rpc, VERUSD_VRSC_ZMQ: zmq }).chains;
  if (!chain) throw new Error('no chain');
  return checkDaemon(chain, rpc, 1, logger);
}

async function checkLines(daemon: ScriptedDaemon, rpc?: string): Promise<string[]> {
  const all = await findings(daemon, rpc);
  return all
    .filter(({ verdict }) => verdict !== 'right')
    .map(({ verdict, says, mend }) => `${verdict}: ${says} → ${mend}`);
}

it('finds nothing wrong with a good daemon, and reports what it checked', async () => {
  const daemon = await startGoodDaemon();
  const all = await findings(daemon);
  await daemon.stop();
  expect(all.map(({ verdict }) => verdict)).toEqual(Array(all.length).fill('right'));
  expect(all.map(({ says }) => says).join('\n')).toMatch(
    /follows VRSC, version 1\.2\.16-1\n.*block 2000000.*\n8 peers\n.*address index.*\n.*spent index.*\n.*identity index.*\n.*wallet is empty\na ZMQ publisher at tcp:.*/,
  );
});

type Answers = Parameters<typeof startGoodDaemon>[0];

const info = (members: object): Answers => ({ getinfo: () => ({ ...GOOD_INFO, ...members }) });

it.each<[string, Answers, RegExp]>([
  ['another chain', info({ name: 'VRSCTEST', chainid: 'iJhCez' }), /^wrong: .*VRSCTEST.*instead of VRSC.*rootCurrency/],
  ['an old version', info({ VRSCversion: '1.2.9-3' }), /^note: .*1\.2\.9-3, older than 1\.2\.16.*upgrade/],
  ['a warning of its own', info({ errors: 'upgrade now' }), /^note: .*it warns: upgrade now/],
  ['a first sync', info({ blocks: 1_000_000 }), /^note: at block 1000000 of 2000000: it is still syncing/],
  ['no peers', info({ connections: 0 }), /^wrong: no peers.*addnode/],
  ['no peers on a test chain', info({ connections: 0, testnet: true }), /^note: no peers/],
  ['a clock that is off', info({ timeoffset: -90 }), /^wrong: its clock is 90 s ahead of.*NTP/],
  [
    'coins',
    { getwalletinfo: () => ({ balance: 0, reserve_balance: { x: 0.5 } }) },
    /^wrong: its wallet holds coins.*disablewallet/,
  ],
  ['shielded addresses', { z_listaddresses: () => ['zs1'] }, /^wrong: its wallet holds shielded addresses/],
  ['an empty address index', { getaddresstxids: () => [] }, /^wrong: its address index.*-reindex/],
  [
    'no spent index',
    { getblock: ([height]) => ({ height: Number(height), tx: [{ txid: 'a', vin: [{ txid: 'b' }], vout: [] }] }) },
    /^note: no transparent reward[\s\S]*wrong: its spent index is off.*-reindex/,
  ],
])('reports %s', async (_, answers, said) => {
  const daemon = await startGoodDaemon(answers);
  const lines = await checkLines(daemon);
  await daemon.stop();
  expect(lines.join('\n')).toMatch(said);
});

it('accepts a daemon without a wallet, and notes a missing identity index', async () => {
  const daemon = await startGoodDaemon();
  daemon.fault = ({ method }) => {
    if (method === 'getwalletinfo') return { kind: 'error', code: -32601, message: 'Method not found' };
    if (method !== 'getidentitieswithaddress') return null;
    return { kind: 'error', code: -32602, message: 'getidentitieswithaddress requires -idindex=1 when starting' };
  };
  const lines = await checkLines(daemon);
  await daemon.stop();
  expect(lines).toEqual([expect.stringMatching(/^note: its identity index is off.*idindex=1/)]);
});

it('states the remedy for a daemon that cannot be used, and never its password', async () => {
  const daemon = await startGoodDaemon();
  const wrong = await checkLines(daemon, daemon.rpc.replace('password', 'topsecret'));
  expect(wrong).toEqual([expect.stringMatching(/^wrong: .*HTTP 401.*daemon_auth_failed.*rpcuser and rpcpassword/)]);
  daemon.fault = () => ({ kind: 'error', code: -28, message: 'Loading block index...' });
  expect(await checkLines(daemon)).toEqual([expect.stringMatching(/^wrong: .*daemon_warming_up.*wait until/)]);
  await daemon.stop();
  const gone = await checkLines(daemon, daemon.rpc.replace('password', 'topsecret'));
  expect(gone).toEqual([expect.stringMatching(/^wrong: .*daemon_unreachable.*start the daemon/)]);
  expect([...wrong, ...gone].join()).not.toContain('topsecret');
});

it('notes that a daemon without a publisher is polled, and reports an unreachable publisher as wrong', async () => {
  const daemon = await startGoodDaemon();
  const gone = await openZmqPublisher('tcp://127.0.0.1:*');
  gone.close();
  const all = await findings(daemon, daemon.rpc, gone.address);
  const [chain] = loadConfig({ VERUSD_VRSC: daemon.rpc }).chains;
  const without = chain ? await checkDaemon(chain, daemon.rpc, 1, logger) : [];
  await daemon.stop();
  expect(all.at(-1)).toMatchObject({
    verdict: 'wrong',
    says: expect.stringContaining(`no ZMQ publisher at ${gone.address}`),
  });
  expect(without.at(-1)).toMatchObject({
    verdict: 'note',
    says: expect.stringContaining('no ZMQ publisher is configured'),
  });
}, 60_000);
