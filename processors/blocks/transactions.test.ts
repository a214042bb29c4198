import { describe, expect, test } from 'vitest';
import type { ExactNumber } from '../../domain/satoshi.ts';
import type { DaemonBlock, DaemonInput, DaemonTransaction } from '../../schemas/verusd/block.ts';
import { block, output, payTo, transaction } from '../../test/support/processors/blocks.ts';
import { RECORDED_CHAIN } from '../../test/support/processors/recorded-chain.ts';
import { foldRecording } from '../../test/support/processors/recorded-fold.ts';
import { deriveOutputs } from '../balances/outputs.ts';
import { UnknownOutputError } from '../balances/spent-outputs.ts';
import { createMemoryState } from '../state/memory-state.ts';
import { deriveTransactions } from './transactions.ts';

/** Satoshis as the daemon printed them next to the coins. */
type Printed = Omit<DaemonTransaction, 'vin'> & {
  readonly vin: readonly (DaemonInput & { readonly valueSat?: ExactNumber })[];
  readonly valueBalanceZat?: ExactNumber;
};

const SUBSIDY = 600_000_000n;
const satoshis = (value: ExactNumber | undefined): bigint => BigInt(String(value ?? 0));

function printedSurplus(tx: Printed): bigint {
  const spent = tx.vin.reduce((sum, { valueSat }) => sum + satoshis(valueSat), satoshis(tx.valueBalanceZat));
  return tx.vout.reduce((left, { valueSat }) => left - satoshis(valueSat), spent);
}

describe('recorded', () => {
  const { derived, all } = foldRecording();
  const facts = new Map(all('transaction').map((fact) => [fact.txid, fact]));

  test('the fee of each transaction is the surplus of its inputs, as the daemon values them', () => {
    let withFee = 0;
    for (const { block: recorded } of derived) {
      for (const tx of recorded.tx) {
        const fact = facts.get(tx.txid);
        if (fact?.kind === 'coinbase' || fact?.kind === 'import') expect(fact.fee, tx.txid).toBeNull();
        else expect(fact?.fee, tx.txid).toBe(printedSurplus(tx));
        if (fact?.fee) withFee += 1;
      }
    }
    expect(withFee).toBeGreaterThan(300);
  });

  test('the fee pool adds up: a coinbase is the subsidy, the fees and the decrease of the pool', () => {
    let pool = 0n;
    for (const { block: recorded, facts: made } of derived) {
      const row = made.find((fact) => fact.type === 'block');
      if (!row) throw new Error(`no block row at ${recorded.height}`);
      const imports = recorded.tx.filter(({ txid }) => facts.get(txid)?.kind === 'import');
      const fees = imports.reduce((sum, tx) => sum + printedSurplus(tx), row.fees);
      const after = row.feePool ?? 0n;
      if (recorded.height > 1) expect(row.reward, `block ${recorded.height}`).toBe(SUBSIDY + fees + pool - after);
      pool = after;
    }
    expect(pool).toBeGreaterThan(0n);
  });

  test('stakes pay no fee', () => {
    const stakes = [...facts.values()].filter(({ kind }) => kind === 'stake');
    expect(stakes.every(({ fee }) => fee === 0n)).toBe(true);
  });

  test('position, lock time and expiry are the daemon’s', () => {
    for (const { block: recorded } of derived) {
      recorded.tx.forEach((tx, txIndex) => {
        const { txIndex: at, lockTime, expiryHeight } = facts.get(tx.txid) ?? {};
        expect([at, lockTime, expiryHeight]).toEqual([txIndex, tx.locktime, tx.expiryheight ?? 0]);
      });
    }
  });
});

describe('made up', () => {
  function derive(made: DaemonBlock) {
    const state = createMemoryState(RECORDED_CHAIN);
    state.apply(
      0,
      deriveOutputs({ block: block(0, [transaction('a', [], [output(0, '1000', payTo('RX'))])]), clock: 0 }, state),
    );
    const input = { block: made, clock: 0 };
    state.apply(made.height, deriveOutputs(input, state));
    return deriveTransactions(input, state);
  }
  const coinbase = transaction('c', [], []);
  const spend = transaction('s', ['a:0'], [output(0, '900', payTo('RY'))]);

  test('coins that leave a shielded pool can pay a fee, coins that enter it do not', () => {
    const joined = [{ vpub_old: 0.0000005, vpub_new: 0.0000001, proof: '' }];
    const [, transparent, out, into, joinsplit] = [
      {},
      {},
      { valueBalance: 0.000001 },
      { valueBalance: -0.0000007 },
      { vjoinsplit: joined },
    ].map((more) => derive(block(1, [coinbase, { ...spend, ...more }]))[1]?.fee);
    expect([transparent, out, into, joinsplit]).toEqual([100n, 200n, 30n, 60n]);
  });

  test('an output can be made and spent in one block', () => {
    const next = transaction('t', ['s:0'], [output(0, '850', payTo('RX'))]);
    expect(derive(block(1, [coinbase, spend, next])).map(({ fee }) => fee)).toEqual([null, 100n, 50n]);
  });

  test('the last transaction of a stake block is the stake, a lone coinbase never is', () => {
    const staked = derive(block(1, [coinbase, spend], { validationtype: 'stake' }));
    expect(staked.map(({ kind }) => kind)).toEqual(['coinbase', 'stake']);
    expect(derive(block(1, [coinbase], { validationtype: 'stake' }))[0]?.kind).toBe('coinbase');
    expect(derive(block(1, [coinbase, spend]))[1]?.kind).toBe('transfer');
  });

  test('spending an output that does not exist stops the chain', () => {
    expect(() => derive(block(1, [coinbase, transaction('s', ['x:3'], [])]))).toThrow(UnknownOutputError);
    expect(() => derive(block(1, [coinbase, transaction('s', ['x:3'], [])]))).toThrow(/vrsc.*x:3/);
  });
});
