import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { coinsToSatoshis, type ExactNumber } from '../../domain/satoshi.ts';
import type { ActivityFact } from '../../schemas/facts.ts';
import { RECORDED_CHAIN, recordedTruth } from '../../test/support/processors/recorded-chain.ts';
import { foldRecording } from '../../test/support/processors/recorded-fold.ts';
import { createMemoryState } from '../state/memory-state.ts';
import { deriveBalances } from './balances.ts';

const NATIVE = RECORDED_CHAIN.nativeCurrencyId;

type Coins = Readonly<Record<string, ExactNumber>>;
interface PrintedBalance {
  readonly balance: ExactNumber;
  readonly received: ExactNumber;
  readonly currencybalance?: Coins;
  readonly currencyreceived?: Coins;
}

describe('recorded', () => {
  const { all, state } = foldRecording();
  const { addressbalances } = recordedTruth<{ addressbalances: Record<string, PrintedBalance> }>(
    'truth/richlist.json.gz',
  );
  const listed = recordedTruth<{ address: string; getaddressbalance: PrintedBalance }[]>('truth/address.json.gz');

  function expectBalance(address: string, printed: PrintedBalance): void {
    const native = state.balance(address, NATIVE) ?? { balance: 0n, received: 0n };
    expect([address, native.balance, native.received]).toEqual([
      address,
      BigInt(String(printed.balance)),
      BigInt(String(printed.received)),
    ]);
    for (const [currencyId, coins] of Object.entries(printed.currencybalance ?? {})) {
      expect([address, currencyId, state.balance(address, currencyId)?.balance ?? 0n]).toEqual([
        address,
        currencyId,
        coinsToSatoshis(coins),
      ]);
    }
    for (const [currencyId, coins] of Object.entries(printed.currencyreceived ?? {})) {
      expect([address, currencyId, state.balance(address, currencyId)?.received ?? 0n]).toEqual([
        address,
        currencyId,
        coinsToSatoshis(coins),
      ]);
    }
  }

  test('every address that ever was in an output', () => {
    for (const [address, printed] of Object.entries(addressbalances)) expectBalance(address, printed);
    expect(Object.keys(addressbalances)).toHaveLength(461);
    for (const { address, getaddressbalance } of listed) expectBalance(address, getaddressbalance);
    expect(listed).toHaveLength(53);
  });

  test('no address and no currency that the daemon does not know', () => {
    for (const { address, currencyId } of all('balance')) {
      const printed = addressbalances[address];
      expect(printed, address).toBeDefined();
      if (currencyId !== NATIVE) expect(printed?.currencyreceived, address).toHaveProperty(currencyId);
    }
  });

  test('each row changes the balance before it, and none is negative', () => {
    const held = new Map<string, string>();
    for (const { address, currencyId, balance, received } of all('balance')) {
      const key = `${address} ${currencyId}`;
      expect(held.get(key)).not.toBe(`${balance} ${received}`);
      expect(balance >= 0n && received >= balance, key).toBe(true);
      held.set(key, `${balance} ${received}`);
    }
  });
});

test('several transactions of one block add up in any order; untouched currencies have no row', () => {
  const amount = fc.bigInt(0n, 10n ** 18n);
  const event = fc.record({
    address: fc.constantFrom('RX', 'RY'),
    currencyId: fc.constantFrom(NATIVE, 'iC'),
    received: amount,
    sent: amount,
  });
  fc.assert(
    fc.property(fc.array(event, { maxLength: 20 }), (events) => {
      const state = createMemoryState(RECORDED_CHAIN);
      state.put({ type: 'balance', address: 'RX', currencyId: 'iC', balance: 7n, received: 11n });
      const activity = events.map(({ address, currencyId, received, sent }, txIndex): ActivityFact => {
        const flow = { received, sent };
        const isNative = currencyId === NATIVE;
        return {
          type: 'activity',
          address,
          txid: 'a',
          txIndex,
          ...(isNative ? flow : { received: 0n, sent: 0n }),
          currencies: isNative ? {} : { [currencyId]: flow },
        };
      });
      const rows = deriveBalances(activity, state);
      const moved = events.filter(({ received, sent }) => received > 0n || sent > 0n);
      expect(new Set(rows.map(({ address, currencyId }) => `${address} ${currencyId}`))).toEqual(
        new Set(moved.map(({ address, currencyId }) => `${address} ${currencyId}`)),
      );
      for (const { address, currencyId, balance, received } of rows) {
        const before = state.balance(address, currencyId) ?? { balance: 0n, received: 0n };
        const own = events.filter((event) => event.address === address && event.currencyId === currencyId);
        const sum = (side: 'received' | 'sent') => own.reduce((total, event) => total + event[side], 0n);
        expect([balance, received]).toEqual([
          before.balance + sum('received') - sum('sent'),
          before.received + sum('received'),
        ]);
      }
    }),
  );
});
