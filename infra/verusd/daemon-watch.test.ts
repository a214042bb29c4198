import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { DaemonStatus } from '../../schemas/daemon-status.ts';
import {
  type DaemonFault,
  type ScriptedDaemon,
  startScriptedDaemon,
} from '../../test/support/infra/verusd/scripted-daemon.ts';
import { type DaemonWatch, watchDaemons } from './daemon-watch.ts';

const CHAIN_ID = 'iJhCezBExJHvtyH3fGhNnt2NhU4Ztkf2yq';
/** Longer than any reply takes, except from a daemon that hangs. */
const TIMING = { everyMs: 20, timeoutMs: 60_000 };
const HANG: DaemonFault = { kind: 'delay', ms: 600_000 };
const HANGS_MS = 400;

let first: ScriptedDaemon;
let second: ScriptedDaemon;
let watch: DaemonWatch | undefined;
let lines: { level: number; msg: string }[];
let info: { blocks: number; longestchain: number; chainid: string };

beforeEach(async () => {
  lines = [];
  info = { blocks: 100, longestchain: 100, chainid: CHAIN_ID };
  first = await startScriptedDaemon({ methods: { getinfo: () => info } });
  second = await startScriptedDaemon({ methods: { getinfo: () => ({ ...info, blocks: 100 }) } });
});
afterEach(async () => {
  await watch?.close();
  await first.stop();
  await second.stop();
});

function start(
  daemons: readonly ScriptedDaemon[] = [first],
  report = (_: readonly DaemonStatus[]) => undefined,
  timeoutMs = TIMING.timeoutMs,
): void {
  const logger = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const rpc = daemons.map((daemon) => daemon.rpc);
  watch = watchDaemons({ chain: 'vrsc', rpc, chainId: CHAIN_ID, logger, report, timing: { ...TIMING, timeoutMs } });
}
const faults = () => watch?.statuses().map(({ fault }) => fault?.code ?? null);
const becomes = (...codes: (string | null)[]) => expect.poll(faults, { interval: 10 }).toEqual(codes);

describe('a daemon', () => {
  it.each<[string, DaemonFault]>([
    ['daemon_unreachable', { kind: 'close' }],
    ['daemon_timeout', HANG],
    ['daemon_warming_up', { kind: 'error', code: -28, message: 'Loading block index...' }],
    ['daemon_rpc_error', { kind: 'error', code: -1, message: 'no' }],
    ['daemon_garbage', { kind: 'garbage' }],
    ['daemon_garbage', { kind: 'cut' }],
    ['daemon_http_error', { kind: 'http', status: 500, body: 'Work queue depth exceeded' }],
    ['daemon_auth_failed', { kind: 'http', status: 401, body: '' }],
  ])('reports %s (%o), and then that it is healthy again', async (code, fault) => {
    start([first], undefined, fault === HANG ? HANGS_MS : undefined);
    await expect.poll(() => watch?.statuses()).toEqual([{ height: 100, peersHeight: 100, fault: null }]);
    first.fault = () => fault;
    await becomes(code);
    first.fault = () => null;
    await becomes(null);
  });

  it('that goes down is reported as unreachable, and keeps its last height', async () => {
    start();
    await expect.poll(() => watch?.statuses()[0]?.height).toBe(100);
    await first.down();
    await becomes('daemon_unreachable');
    expect(watch?.statuses()[0]).toMatchObject({ height: 100 });
  });

  it('of another chain is reported as wrong_chain', async () => {
    start();
    info.chainid = 'i5w5MuNik5NtLcYmNzcvaoixooEebB6MGV';
    await becomes('wrong_chain');
    Object.assign(info, { chainid: undefined });
    await becomes(null);
  });

  it('is behind its peers from three blocks on, and never behind while it knows no peers', async () => {
    start();
    info.longestchain = 102;
    await expect.poll(() => watch?.statuses()[0]?.peersHeight).toBe(102);
    expect(faults()).toEqual([null]);
    info.longestchain = 103;
    await becomes('daemon_behind_peers');
    expect(lines.at(-1)).toMatchObject({ level: 40, msg: expect.stringContaining('height 100, its peers are at 103') });
    info.longestchain = 0;
    await becomes(null);
    expect(watch?.statuses()[0]?.peersHeight).toBe(null);
  });

  it('is asked again at once after one lost reply', async () => {
    let asked = 0;
    first.fault = () => {
      asked += 1;
      return asked % 2 === 1 ? { kind: 'close' } : null;
    };
    const seen = new Set<string | null>();
    start([first], (statuses) => void seen.add(statuses[0]?.fault?.code ?? null));
    await expect.poll(() => asked).toBeGreaterThan(10);
    expect([...seen]).toEqual([null]);
  });

  it('is asked only for getinfo, once per interval', async () => {
    start();
    await expect.poll(() => first.calls.length).toBeGreaterThan(5);
    const begun = performance.now();
    const before = first.calls.length;
    await new Promise((resolve) => setTimeout(resolve, 500));
    const most = Math.ceil((performance.now() - begun) / TIMING.everyMs) + 1;
    expect(first.calls.length - before).toBeLessThanOrEqual(most);
    expect(new Set(first.calls.map(({ method }) => method))).toEqual(new Set(['getinfo']));
  });
});

describe('several daemons', () => {
  it('are probed separately: a daemon that hangs does not delay the others', async () => {
    first.fault = () => HANG;
    start([first, second], undefined, HANGS_MS);
    await expect.poll(() => second.calls.length).toBeGreaterThan(5);
    await becomes('daemon_timeout', null);
  });

  it('are peers of each other while they are healthy', async () => {
    start([first, second]);
    info.blocks = 90;
    info.longestchain = 90;
    await becomes('daemon_behind_peers', null);
    await second.down();
    await becomes(null, 'daemon_unreachable');
  });
});
