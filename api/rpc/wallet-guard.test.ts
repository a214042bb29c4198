/** Which calls reach the daemons, depending on what is known about their wallets. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { WatchedWallet } from '../../infra/verusd/wallet-watch.ts';
import { createDoubleService } from '../../test/support/api/rpc/double-service.ts';
import { textOf } from '../../test/support/api/rpc/recorded-service.ts';
import { daemonForm, rpcMethod } from './methods/method-table.ts';
import type { RpcAnswer } from './rpc-handler.ts';
import type { Wallets } from './wallet-guard.ts';
import { WALLET_METHODS, walletUse } from './wallet-methods.ts';

const ALICE = 'i5f5njYtso65186mo5WHMkRme9YG6hrZE2';
type Known = Pick<WatchedWallet, 'wallet' | 'isFresh' | 'lately'>;
const none: Known = { wallet: { exists: false, holds: [] }, isFresh: true, lately: 'answered' };
const empty: Known = { wallet: { exists: true, holds: [] }, isFresh: true, lately: 'answered' };
const holds: Known = { wallet: { exists: true, holds: ['coins'] }, isFresh: true, lately: 'answered' };
const unknown: Known = { wallet: null, isFresh: false, lately: 'unknown' };
const old = (known: Known): Known => ({ ...known, isFresh: false });
const silent = (known: Known): Known => ({ ...known, lately: 'unknown' });
const away = (known: Known): Known => ({ ...known, lately: 'away' });
const STATES = { none, empty, holds, unknown, oldNone: old(none), oldEmpty: old(empty), oldHolds: old(holds) };

/** Parameters that pass the other guards. */
const ARGUMENTS: Readonly<Record<string, string>> = {
  getcurrencybalance: '["alice@"]',
  recoveridentity: '[{},true]',
  registeridentity: '[{},true]',
  revokeidentity: '["alice@",true]',
  sendcurrency: '["alice@",[],0,0,true]',
  setidentitytimelock: '["alice@",{},true]',
  updateidentity: '[{},true]',
  verifysignature: '[{"address":"RJvt6CZAzWJEgYd4juBYJzqtmtzAn23c2V"}]',
};

const DAEMON = {
  reply: '{"result":1,"error":null,"id":1}\n',
  nativeCurrencyId: 'iJhCezBExJHvtyH3fGhNnt2NhU4Ztkf2yq',
};

/** Wallets of which `learned` is known once the daemons have been asked. */
function walletsOf(known: readonly Known[], learned = known): Wallets & { known: readonly Known[] } {
  return {
    known,
    wallets() {
      return this.known.map((one, index) => ({ ...one, daemon: index + 1, answeredAt: null }));
    },
    async askUnsure() {
      this.known = learned;
    },
  };
}

const callOf = (method: string, params = ARGUMENTS[method] ?? '[]') =>
  Buffer.from(`{"id":1,"method":"${method}","params":${params}}`);

/** Code of the error, or `served`. */
const outcomeOf = (answer: RpcAnswer) => /"code":(-\d+)/.exec(textOf(answer))?.[1] ?? 'served';

function world(known: readonly Known[], requireEmptyWallet = false, learned = known) {
  const { received, post } = createDoubleService({ ...DAEMON, requireEmptyWallet, wallets: walletsOf(known, learned) });
  return {
    received,
    async outcome(method: string, params?: string): Promise<string> {
      const before = received.length;
      const outcome = outcomeOf(await post(callOf(method, params)));
      expect(received.length - before, 'what is refused reaches no daemon').toBe(outcome === 'served' ? 1 : 0);
      return outcome;
    },
  };
}

/** Calls of the standard lane that a chain's daemons get at once. */
const STANDARD_PLACES = 5;
const METHODS = Object.keys(WALLET_METHODS);
const NEEDING = METHODS.filter((method) => WALLET_METHODS[method] === 'needs');

it('every method of the list is served, and every method that writes with the wallet is on the list', () => {
  for (const method of METHODS) expect(rpcMethod(method)?.source, method).toBe('daemon');
  const writing = [
    'registeridentity',
    'updateidentity',
    'revokeidentity',
    'recoveridentity',
    'setidentitytimelock',
    'sendcurrency',
  ];
  for (const method of writing) expect(NEEDING).toContain(method);
});

describe('by default', () => {
  it.each(METHODS)('%s is served by daemons whose wallets are empty or not', async (method) => {
    for (const known of [[holds], [empty], [old(holds)], [holds, empty]])
      expect(await world(known).outcome(method)).toBe('served');
  });

  it.each(METHODS)('%s never crashes a daemon that runs without a wallet', async (method) => {
    const expected = WALLET_METHODS[method] === 'needs' ? '-32601' : 'served';
    for (const known of [[none], [holds, none], [old(none), empty]])
      expect(await world(known).outcome(method)).toBe(expected);
  });

  it('asks a daemon whether it has a wallet, if that is unknown, before it sends a method that needs one', async () => {
    expect(await world([unknown], false, [holds]).outcome('listidentities')).toBe('served');
    expect(await world([unknown], false, [none]).outcome('listidentities')).toBe('-32601');
    expect(await world([holds, unknown], false, [holds, unknown]).outcome('listidentities')).toBe('-32603');
    expect(await world([unknown]).outcome('validateaddress', '["x"]')).toBe('served');
  });
});

describe('a daemon that may have been restarted without its wallet', () => {
  const served = (known: readonly Known[], learned: readonly Known[], requireEmptyWallet = false) =>
    world(known, requireEmptyWallet, learned).outcome('listidentities');

  it('is asked before a method that needs one is sent', async () => {
    expect(await served([silent(holds)], [holds])).toBe('served');
    expect(await served([silent(holds)], [none])).toBe('-32601');
    expect(await served([empty, silent(empty)], [empty, none])).toBe('-32601');
    expect(await served([silent(empty)], [holds], true)).toBe('-32601');
  });

  it('gets no such method until it answers, unless it is unreachable and another daemon has confirmed its wallet', async () => {
    expect(await served([silent(holds)], [silent(holds)])).toBe('-32603');
    expect(await served([holds, silent(holds)], [holds, silent(holds)])).toBe('-32603');
    expect(await served([silent(holds)], [away(holds)])).toBe('-32603');
    expect(await served([holds, silent(holds)], [holds, away(holds)])).toBe('served');
    expect(await served([holds, unknown], [holds, away(unknown)])).toBe('-32603');
  });

  it('is asked again when the call had to wait for its turn', async () => {
    for (const [learned, expected] of [
      [[none], '-32601'],
      [[silent(holds)], '-32603'],
      [[holds], 'served'],
    ] as const) {
      const ready = Promise.withResolvers<void>();
      const wallets = walletsOf([holds], learned);
      const { received, post } = createDoubleService({ ...DAEMON, ready: ready.promise, wallets });
      const busy = Array.from({ length: STANDARD_PLACES }, () => post(callOf('getinfo')));
      const waiting = post(callOf('listidentities'));
      await expect.poll(() => received.length).toBe(STANDARD_PLACES);
      wallets.known = [silent(holds)];
      ready.resolve();
      await Promise.all(busy);
      expect(outcomeOf(await waiting)).toBe(expected);
      expect(received.length - STANDARD_PLACES).toBe(expected === 'served' ? 1 : 0);
    }
  });

  it('is not asked for methods that only check whether there is a wallet', async () => {
    expect(await world([silent(holds)], false, [none]).outcome('validateaddress', '["x"]')).toBe('served');
  });
});

describe('with requireEmptyWallet', () => {
  const states = fc.array(fc.constantFrom(...Object.values(STATES)), { minLength: 1, maxLength: 4 });

  it('a method that uses the wallet is served only if every daemon is known to hold nothing', async () => {
    await fc.assert(
      fc.asyncProperty(states, fc.constantFrom(...METHODS), async (known, method) => {
        const isSafe = known.every((one) => one === empty || one === none);
        const ends = WALLET_METHODS[method] === 'needs' && known.includes(none);
        expect(await world(known, true).outcome(method)).toBe(isSafe && !ends ? 'served' : '-32601');
      }),
    );
  });

  it('all other methods are served, whatever the wallets hold', async () => {
    const others = [
      'getidentity',
      'getidentitycontent',
      'getinfo',
      'getrawtransaction',
      'verifymessage',
      'decodescript',
    ];
    for (const method of others) {
      expect(daemonForm(method, 1)).toBeDefined();
      expect(await world([holds, unknown], true).outcome(method, '["x"]')).toBe('served');
    }
  });
});

describe('verifysignature', () => {
  const useOf = (params: string) => walletUse({ method: 'verifysignature', params });

  it.each([
    `[{"address":"${ALICE}","message":"m","signature":"s"}]`,
    '[{"message":"address","address":"alice@","signature":"s"}]',
    '[{"\\u0061ddress":"sub.alice.VRSC@","datahash":"00"}]',
    '[{"address":"two words 😀@"}]',
  ])('for an identity does not use the wallet: %s', (params) => expect(useOf(params)).toBeNull());

  it.each([
    '[]',
    '[{}]',
    '["alice@"]',
    '[{"address":"RJvt6CZAzWJEgYd4juBYJzqtmtzAn23c2V"}]',
    '[{"address":" RJvt6CZAzWJEgYd4juBYJzqtmtzAn23c2V"}]',
    `[{"address":"${ALICE}","address":"RJvt6CZAzWJEgYd4juBYJzqtmtzAn23c2V"}]`,
    `[{"address":"RJvt6CZAzWJEgYd4juBYJzqtmtzAn23c2V","\\u0061ddress":"${ALICE}"}]`,
    `[{"address":{"address":"${ALICE}"}}]`,
    `[{"x":{"address":"${ALICE}"},"address":5}]`,
    `[{"address":null,"x":"${ALICE}"}]`,
    '[{"address":"alice@\\u0000"}]',
    '[{"address":"@"}]',
    '[{"address":"RJvt6CZAzWJEgYd4juBYJzqtmtzAn23c2V@@"}]',
  ])('for anything else needs the wallet: %s', (params) => expect(useOf(params)).toBe('needs'));
});
