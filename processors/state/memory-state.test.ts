import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type {
  CurrencyFact,
  CurrencyStateFact,
  ExportFact,
  Fact,
  IdentityFact,
  OutputFact,
  TransferFact,
} from '../../schemas/facts.ts';
import { RECORDED_CHAIN } from '../../test/support/processors/recorded-chain.ts';
import { createMemoryState } from './memory-state.ts';

const madeOutput: OutputFact = {
  type: 'output',
  txid: 'a',
  txIndex: 0,
  n: 1,
  value: 5n,
  currencies: {},
  kind: 'pubkeyhash',
  addresses: ['RX'],
  data: null,
};
const identity = { type: 'identity', identityAddress: 'iA', flags: 0 } as IdentityFact;
const currency = { type: 'currency', currencyId: 'iC', name: 'usd' } as CurrencyFact;
const currencyState = { type: 'currency_state', currencyId: 'iC', supply: 1n } as CurrencyStateFact;
const transfer = { type: 'transfer', txid: 'a', vout: 1, status: 'pending' } as TransferFact;
const made = { type: 'export', txid: 'a', vout: 0, currencyId: 'iC' } as ExportFact;

describe('apply', () => {
  test('an output can be looked up by its outpoint, with its height, until it is spent', () => {
    const state = createMemoryState(RECORDED_CHAIN);
    state.apply(7, [madeOutput, { ...madeOutput, n: 2 }]);
    expect(state.output('a', 1)).toEqual({ ...madeOutput, height: 7 });
    state.apply(8, [{ type: 'spend', txid: 'a', n: 1, spentTxid: 'b', spentIndex: 0 }]);
    expect(state.output('a', 1)).toBeUndefined();
    expect(state.output('a', 2)?.height).toBe(7);
  });

  test('balances are stored by address and currency', () => {
    const state = createMemoryState(RECORDED_CHAIN);
    const balance = { type: 'balance', address: 'RX', currencyId: 'iC', balance: 1n, received: 3n } as const;
    state.apply(1, [balance, { ...balance, currencyId: 'iD', balance: 9n }, { ...balance, balance: 2n }]);
    expect(state.balance('RX', 'iC')).toEqual({ ...balance, balance: 2n });
    expect(state.balance('RX', 'iD')).toEqual({ ...balance, currencyId: 'iD', balance: 9n });
    expect(state.balance('RY', 'iC')).toBeUndefined();
  });

  test('identities, currencies, transfers and exports are replaced by their key', () => {
    const state = createMemoryState(RECORDED_CHAIN);
    state.apply(1, [identity, currency, transfer, made]);
    const after: Fact[] = [
      { ...identity, flags: 2 },
      { ...currency, name: 'USD' },
      { ...transfer, status: 'exported' },
      { ...made, flags: 1 },
    ];
    state.apply(2, after);
    expect([state.identity('iA'), state.currency('iC'), state.transfer('a', 1), state.export('a', 0)]).toEqual(after);
    expect(state.transfer('a', 0)).toBeUndefined();
    expect(state.export('a', 1)).toBeUndefined();
  });

  test('the last currency state of a block counts, with the height of its block', () => {
    const state = createMemoryState(RECORDED_CHAIN);
    state.apply(4, [currencyState, { ...currencyState, supply: 2n }, { ...currencyState, currencyId: 'iD' }]);
    expect(state.currencyState('iC')).toEqual({ ...currencyState, supply: 2n, height: 4 });
    expect([...state.currencyStates()].map(({ currencyId }) => currencyId)).toEqual(['iC', 'iD']);
  });

  test('finished events leave no trace', () => {
    const state = createMemoryState(RECORDED_CHAIN);
    state.apply(1, [
      { type: 'reward', address: 'RX', txid: 'a', vout: 0, kind: 'mining', amount: 1n },
      { type: 'activity', address: 'RX', txid: 'a', txIndex: 0, received: 1n, sent: 0n, currencies: {} },
    ]);
    expect(state.balance('RX', RECORDED_CHAIN.nativeCurrencyId)).toBeUndefined();
  });
});

test('put and apply lead to the same answers', () => {
  const applied = createMemoryState(RECORDED_CHAIN);
  applied.apply(3, [madeOutput, identity, currency, currencyState, transfer, made]);
  const balance = { type: 'balance', address: 'RX', currencyId: 'iC', balance: 1n, received: 2n } as const;
  applied.apply(3, [balance]);
  const put = createMemoryState(RECORDED_CHAIN);
  put.put({ ...madeOutput, height: 3 });
  put.put(identity);
  put.put(currency);
  put.put({ ...currencyState, height: 3 });
  put.put(transfer);
  put.put(made);
  put.put(balance);
  for (const state of [applied, put]) {
    expect([
      state.output('a', 1),
      state.identity('iA'),
      state.currency('iC'),
      state.currencyState('iC'),
      state.transfer('a', 1),
      state.export('a', 0),
      state.balance('RX', 'iC'),
    ]).toEqual([
      { ...madeOutput, height: 3 },
      identity,
      currency,
      { ...currencyState, height: 3 },
      transfer,
      made,
      balance,
    ]);
  }
});

test('the tip is the one that was set', () => {
  const state = createMemoryState(RECORDED_CHAIN);
  expect(state.tip).toBeNull();
  const tip = { height: 1, hash: 'b1', time: 2, clock: 3 };
  state.setTip(tip);
  expect(state.tip).toEqual(tip);
});

test('any order of making and spending outputs leaves the same outputs as a plain set', () => {
  const event = fc.record({ txid: fc.constantFrom('a', 'b', 'a:1'), n: fc.nat(12), spent: fc.boolean() });
  fc.assert(
    fc.property(fc.array(event, { maxLength: 60 }), (events) => {
      const state = createMemoryState(RECORDED_CHAIN);
      const unspent = new Set<string>();
      for (const { txid, n, spent } of events) {
        const key = JSON.stringify([txid, n]);
        if (spent) unspent.delete(key);
        else unspent.add(key);
        state.apply(1, [
          spent ? { type: 'spend', txid, n, spentTxid: 'c', spentIndex: 0 } : { ...madeOutput, txid, n },
        ]);
      }
      for (const { txid, n } of events) {
        expect(state.output(txid, n) !== undefined).toBe(unspent.has(JSON.stringify([txid, n])));
      }
    }),
  );
});
