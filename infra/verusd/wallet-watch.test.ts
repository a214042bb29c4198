/** What a chain's daemons report about their wallets, and how long a report is trusted. */
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import { afterEach, describe, expect, it, test, vi } from 'vitest';
import { startRecordedNode } from '../../recordings/player/recorded-node.ts';
import { createTestStores } from '../../test/support/infra/test-stores.ts';
import { type ScriptedDaemon, startScriptedDaemon } from '../../test/support/infra/verusd/scripted-daemon.ts';
import { registry } from '../metrics.ts';
import { askWallet } from './ask-wallet.ts';
import { createVerusdClient } from './verusd-client.ts';
import { readWallets, storeWallet } from './wallet-rows.ts';
import { type WalletWatch, type WalletWatchOptions, watchWallets } from './wallet-watch.ts';

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const closer of closers.splice(0).reverse()) await closer();
});

const EMPTY = {
  walletversion: 60000,
  balance: 0,
  unconfirmed_balance: 0,
  immature_balance: 0,
  eligible_staking_balance: 0,
  txcount: 0,
};
const QUICK = { everyMs: 20, retryMs: 20, longestMs: 20, pauseMs: 0, latelyMs: 60_000 };
const NEVER = { everyMs: 600_000, retryMs: 600_000, longestMs: 600_000, freshMs: 600_000, latelyMs: 60_000 };
interface Held {
  info: unknown;
  addresses: unknown;
}

const walletMethods = (held: Held) => ({
  getinfo: () => ({ walletversion: 60000 }),
  getwalletinfo: () => held.info,
  z_listaddresses: () => held.addresses,
});

async function daemonWith(held: Held | null): Promise<ScriptedDaemon> {
  const daemon = await startScriptedDaemon(held ? { methods: walletMethods(held) } : {});
  closers.push(() => daemon.stop());
  return daemon;
}

function watching(
  daemons: readonly { readonly rpc: string }[],
  options: Partial<WalletWatchOptions> = {},
): WalletWatch {
  const timing = { ...QUICK, freshMs: 60_000 };
  const rpc = daemons.map((daemon) => daemon.rpc);
  const watch = watchWallets({ chain: 'made', rpc, logger: pino({ level: 'silent' }), timing, ...options });
  closers.push(() => watch.close());
  return watch;
}

const realNow = performance.now.bind(performance);
/** Makes everything known older than `latelyMs`. */
function passTime(): void {
  const ahead = performance.now() - realNow() + 120_000;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => realNow() + ahead);
  closers.push(async () => clock.mockRestore());
}

async function until(holds: () => boolean): Promise<void> {
  for (let tries = 0; tries < 1500 && !holds(); tries += 1) await sleep(20);
  expect(holds()).toBe(true);
}

describe('a wallet', () => {
  const coins = ['coins'];
  it.each<[string, Held | null, unknown]>([
    ['does not exist', null, { exists: false, holds: [] }],
    ['is empty', { info: EMPTY, addresses: [] }, { exists: true, holds: [] }],
    [
      'was used and is empty',
      { info: { ...EMPTY, txcount: 9, reserve_balance: {} }, addresses: [] },
      { exists: true, holds: [] },
    ],
    ['has a balance', { info: { ...EMPTY, balance: 0.00000001 }, addresses: [] }, { exists: true, holds: coins }],
    [
      'has an unconfirmed balance',
      { info: { ...EMPTY, unconfirmed_balance: 1 }, addresses: [] },
      { exists: true, holds: coins },
    ],
    [
      'has an immature balance',
      { info: { ...EMPTY, immature_balance: 6 }, addresses: [] },
      { exists: true, holds: coins },
    ],
    ['has a shared balance', { info: { ...EMPTY, sharedbalance: 1 }, addresses: [] }, { exists: true, holds: coins }],
    [
      'has tokens',
      { info: { ...EMPTY, reserve_balance: { tok: 0, usdx: 2 } }, addresses: [] },
      { exists: true, holds: coins },
    ],
    [
      'has a shared balance of tokens',
      { info: { ...EMPTY, shared_reserve_balance: { tok: 1 } }, addresses: [] },
      { exists: true, holds: coins },
    ],
    [
      'has an unconfirmed balance of tokens',
      { info: { ...EMPTY, unconfirmed_reserve_balance: { nft: 1e-8 } }, addresses: [] },
      { exists: true, holds: coins },
    ],
    ['has a negative balance', { info: { ...EMPTY, balance: -1 }, addresses: [] }, { exists: true, holds: coins }],
    [
      'has an unreadable balance',
      { info: { ...EMPTY, balance: 'much' }, addresses: [] },
      { exists: true, holds: coins },
    ],
    ['has a shielded address', { info: EMPTY, addresses: ['zs1'] }, { exists: true, holds: ['shielded addresses'] }],
  ])('that %s', async (_, held, expected) => {
    const daemon = await daemonWith(held);
    const watch = watching([daemon]);
    await until(() => watch.wallets()[0]?.wallet != null);
    expect(watch.wallets()).toEqual([
      { daemon: 1, wallet: expected, answeredAt: expect.any(Date), isFresh: true, lately: 'answered' },
    ]);
  });

  it.each<[string, Held]>([
    ['null', { info: null, addresses: [] }],
    ['no balance', { info: { walletversion: 60000 }, addresses: [] }],
    ['addresses that are not a list', { info: EMPTY, addresses: {} }],
  ])('that returns %s counts as unanswered', async (_, held) => {
    const daemon = await daemonWith(held);
    const watch = watching([daemon]);
    await until(() => daemon.calls.length > 2);
    expect(watch.wallets()).toEqual([{ daemon: 1, wallet: null, answeredAt: null, isFresh: false, lately: 'unknown' }]);
  });

  test('of the recording contains coins and shielded addresses at every height', async () => {
    const folder = fileURLToPath(new URL('../../recordings/private-network/', import.meta.url));
    const node = await startRecordedNode({ folder, user: 'user', password: 'password', startHeight: 5 });
    closers.push(() => node.stop());
    const client = createVerusdClient({ rpc: node.url, chain: 'made', logger: pino({ level: 'silent' }) });
    closers.push(() => client.close());
    const asked = () => askWallet(client, new AbortController().signal);
    expect(await asked()).toEqual({ exists: true, holds: ['coins', 'shielded addresses'] });
    node.advanceTo(node.tip);
    expect(await asked()).toEqual({ exists: true, holds: ['coins', 'shielded addresses'] });
  });
});

describe('the watch', () => {
  it('asks each daemon separately and repeatedly, and keeps the last answer until it is too old', async () => {
    const held: Held = { info: EMPTY, addresses: [] };
    const [first, second] = [
      await daemonWith(held),
      await daemonWith({ info: { ...EMPTY, balance: 1 }, addresses: [] }),
    ];
    const watch = watching([first, second], { timing: { ...QUICK, freshMs: 300 } });
    const holds = () => watch.wallets().map(({ wallet }) => wallet?.holds ?? null);
    await until(() => holds().every((one) => one !== null));
    expect(holds()).toEqual([[], ['coins']]);
    held.addresses = ['zs1'];
    await until(() => holds()[0]?.length === 1);
    expect(holds()).toEqual([['shielded addresses'], ['coins']]);
    await first.down();
    await until(() => watch.wallets()[0]?.isFresh === false && watch.wallets()[1]?.isFresh === true);
    expect(holds()[0]).toEqual(['shielded addresses']);
    await first.up();
    await until(() => watch.wallets()[0]?.isFresh === true);
  });

  it('asks at once when a caller needs to know', async () => {
    const daemon = await daemonWith({ info: EMPTY, addresses: [] });
    daemon.fault = () => ({ kind: 'error', code: -28, message: 'Loading block index...' });
    const watch = watching([daemon], { timing: { ...NEVER, pauseMs: 0 } });
    await until(() => daemon.calls.length > 0);
    await watch.askUnsure();
    expect(watch.wallets()[0]?.wallet).toBeNull();
    daemon.fault = () => null;
    await watch.askUnsure();
    expect(watch.wallets()[0]?.wallet).toEqual({ exists: true, holds: [] });
  });

  it('does not ask more often when many callers need to know', async () => {
    const daemon = await daemonWith({ info: EMPTY, addresses: [] });
    daemon.fault = () => ({ kind: 'http', status: 500, body: 'Work queue depth exceeded' });
    const watch = watching([daemon], { timing: { ...NEVER, pauseMs: 600_000 } });
    await Promise.all(Array.from({ length: 20 }, () => watch.askUnsure()));
    for (let asked = 0; asked < 20; asked += 1) await watch.askUnsure();
    expect(daemon.calls).toHaveLength(1);
  });

  it('detects, when asked, a daemon that was restarted without its wallet or with one', async () => {
    const methods: Record<string, () => unknown> = walletMethods({ info: EMPTY, addresses: [] });
    const daemon = await startScriptedDaemon({ methods });
    closers.push(() => daemon.stop());
    const watch = watching([daemon], { timing: { ...NEVER, pauseMs: 0 } });
    const said = () => watch.wallets()[0]?.wallet;
    await until(() => said() != null);
    await daemon.down();
    for (const method of Object.keys(methods)) delete methods[method];
    await daemon.up();
    passTime();
    await watch.askUnsure();
    expect(said()).toEqual({ exists: false, holds: [] });
    Object.assign(methods, walletMethods({ info: EMPTY, addresses: ['zs1'] }));
    passTime();
    await watch.askUnsure();
    expect(said()).toEqual({ exists: true, holds: ['shielded addresses'] });
  });

  it('reports the last known state of a daemon that starts, is away, or is back', async () => {
    const daemon = await daemonWith({ info: EMPTY, addresses: [] });
    const watch = watching([daemon], { timing: { ...NEVER, pauseMs: 0 } });
    await until(() => watch.wallets()[0]?.wallet != null);
    const lately = async () => {
      passTime();
      await watch.askUnsure();
      return watch.wallets()[0]?.lately;
    };
    expect(await lately()).toBe('answered');
    await daemon.down();
    expect(await lately()).toBe('away');
    await daemon.up();
    daemon.fault = () => ({ kind: 'error', code: -28, message: 'Loading block index...' });
    expect(await lately()).toBe('unknown');
    daemon.fault = () => null;
    expect(await lately()).toBe('answered');
    expect(watch.wallets()[0]?.wallet).toEqual({ exists: true, holds: [] });
  });

  it('does not ask a daemon that has just answered, and asks others once for all waiting callers', async () => {
    const daemon = await daemonWith({ info: EMPTY, addresses: [] });
    const asked = (method: string) => daemon.calls.filter((call) => call.method === method).length;
    const watch = watching([daemon], { timing: { ...NEVER, pauseMs: 0 } });
    await until(() => watch.wallets()[0]?.wallet != null);
    for (let call = 0; call < 50; call += 1) await watch.askUnsure();
    expect(asked('getinfo')).toBe(0);
    passTime();
    await Promise.all(Array.from({ length: 50 }, () => watch.askUnsure()));
    for (let call = 0; call < 50; call += 1) await watch.askUnsure();
    expect([asked('getinfo'), asked('getwalletinfo')]).toEqual([1, 1]);
  });

  it('warns in the log and in the metrics, and names no address, password or amount', async () => {
    const lines: string[] = [];
    const logger = pino({ level: 'info' }, { write: (line) => lines.push(line) });
    const daemon = await daemonWith({ info: { ...EMPTY, balance: 123.456 }, addresses: ['zs1'] });
    const gone = await daemonWith(null);
    await gone.stop();
    const watch = watching([daemon, gone], { chain: 'warned', logger });
    await until(() => lines.length >= 2 && watch.wallets()[0]?.wallet != null);
    expect(lines.join('')).toContain('the wallet of daemon 1 of warned holds coins and shielded addresses');
    expect(lines.join('')).toContain('daemon 2 of warned does not report what its wallet holds');
    const metrics = await registry.metrics();
    expect(metrics).toContain('verustream_daemon_wallet_holds{chain="warned",daemon="1"} 1');
    expect(metrics).not.toContain('{chain="warned",daemon="2"}');
    expect(lines.join('')).not.toMatch(/123\.456|zs1|password/);
  });

  it('stores the last answer for status, and keeps it while the daemon does not answer', async () => {
    const stores = await createTestStores();
    closers.push(() => stores.close());
    const daemon = await daemonWith({ info: { ...EMPTY, balance: 1 }, addresses: [] });
    let report = 0;
    const watch = watching([daemon], {
      async report(wallet) {
        await storeWallet(stores.postgres, 'made', wallet);
        report += 1;
      },
    });
    await until(() => report > 0);
    await daemon.stop();
    const before = report;
    await until(() => report > before + 1);
    expect(await readWallets(stores.postgres)).toMatchObject([
      { chain: 'made', daemon: 1, holds: ['coins'], answered: true, tried: true },
    ]);
    await watch.close();
    await stores.postgres.pool.query("UPDATE daemon_wallets SET answered_at = answered_at - interval '3 hours'");
    expect(await readWallets(stores.postgres)).toMatchObject([{ holds: ['coins'], answered: false, tried: true }]);
  });
});
