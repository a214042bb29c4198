import { describe, expect, test } from 'vitest';
import { SYSTEM_ADDRESSES } from '../../domain/system-addresses.ts';
import { block, decodedAs, output, payTo, transaction } from '../../test/support/processors/blocks.ts';
import { RECORDED_CHAIN } from '../../test/support/processors/recorded-chain.ts';
import { foldRecording } from '../../test/support/processors/recorded-fold.ts';
import { deriveOutputs } from '../balances/outputs.ts';
import { createMemoryState } from '../state/memory-state.ts';
import { deriveRewards } from './rewards.ts';

describe('recorded', () => {
  const { derived } = foldRecording();

  test('rewards of each block are its coinbase without the fee pool, paid to persons only', () => {
    for (const { block: recorded, facts } of derived) {
      const rewards = facts.filter((fact) => fact.type === 'reward');
      const row = facts.find((fact) => fact.type === 'block');
      expect(
        rewards.reduce((sum, { amount }) => sum + amount, 0n),
        `block ${recorded.height}`,
      ).toBe(row?.reward);
      for (const { address, kind, txid } of rewards) {
        expect(SYSTEM_ADDRESSES.has(address)).toBe(false);
        expect(kind).toBe(recorded.validationtype === 'stake' ? 'staking' : 'mining');
        expect(txid).toBe(recorded.tx[0]?.txid);
      }
    }
  });

  test('a staker is paid at the address that the daemon names', () => {
    for (const { block: recorded, facts } of derived) {
      if (recorded.posrewarddest === undefined) continue;
      const paid = facts.flatMap((fact) => (fact.type === 'reward' ? fact.address : []));
      expect(paid).toContain(recorded.posrewarddest);
    }
  });
});

test('each output of a split is a reward; an output without coins or outside the coinbase is not', () => {
  const pool = decodedAs('feepool', '{"version":1,"currencyvalues":{}}', ['RQ55dLQ7uGnLx8scXfkaFV6QS6qVBGyxAG']);
  const guarded = decodedAs('stakeguard', '""', ['RX', 'RCG8KwJNDVwpUBcdoa6AoHqHVJsA1uMYMR']);
  const coinbase = transaction(
    'c',
    [],
    [output(0, '5', payTo('RX')), output(1, '7', guarded), output(2, '9', pool), output(3, '0', payTo('RY'))],
  );
  const made = block(1, [coinbase, transaction('t', ['c:0'], [output(0, '5', payTo('RZ'))])], {
    validationtype: 'stake',
  });
  const state = createMemoryState(RECORDED_CHAIN);
  state.apply(1, deriveOutputs({ block: made, clock: 0 }, state));
  const rewards = deriveRewards({ block: made, clock: 0 }, state);
  expect(rewards.map(({ address, vout, amount, kind }) => [address, vout, amount, kind])).toEqual([
    ['RX', 0, 5n, 'staking'],
    ['RX', 1, 7n, 'staking'],
  ]);
});
