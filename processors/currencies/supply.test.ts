import { describe, expect, test } from 'vitest';
import { coinsToSatoshis, type ExactNumber } from '../../domain/satoshi.ts';
import { block, output, payTo, transaction } from '../../test/support/processors/blocks.ts';
import { RECORDED_CHAIN, recordedTruth } from '../../test/support/processors/recorded-chain.ts';
import { foldRecording } from '../../test/support/processors/recorded-fold.ts';
import { createMemoryState } from '../state/memory-state.ts';
import { deriveSupply } from './supply.ts';

interface CoinSupply {
  readonly height: number;
  readonly supply: ExactNumber;
  readonly immature: ExactNumber;
  readonly zfunds: ExactNumber;
}

describe('recorded', () => {
  const blocks = foldRecording().all('block');
  const truth = recordedTruth<Record<string, CoinSupply>>('truth/supply.json');

  test.each(['coinsupply_1', 'coinsupply_100', 'coinsupply_775', 'coinsupply_1550', 'coinsupply'])('%s', (name) => {
    const recorded = truth[name];
    const until = blocks.slice(0, (recorded?.height ?? 0) + 1);
    const transparent = until.reduce((sum, { transparentChange }) => sum + transparentChange, 0n);
    expect(transparent).toBe(coinsToSatoshis(recorded?.supply ?? 0));
    expect(until.at(-1)?.shieldedSupply).toBe(coinsToSatoshis(recorded?.zfunds ?? 0));
    const young = until.filter(({ height }) => height > 0).slice(-100);
    const immature = young.reduce((sum, { reward }) => sum + reward, 0n);
    expect(immature).toBe(coinsToSatoshis(recorded?.immature ?? 0));
  });
});

test('pools are not summed unless all of them are watched', () => {
  const of = (valuePools?: readonly object[]) => {
    const state = createMemoryState(RECORDED_CHAIN);
    const made = block(1, [transaction('t', [], [output(0, '5', payTo('R1'))])], valuePools ? { valuePools } : {});
    return deriveSupply({ block: made, clock: 0 }, state).shieldedSupply;
  };
  expect(of()).toBeNull();
  expect(of([{ id: 'sprout', monitored: false }])).toBeNull();
  expect(
    of([
      { id: 'sprout', chainValue: 1 },
      { id: 'sapling', chainValue: 2 },
    ]),
  ).toBe(300_000_000n);
});
