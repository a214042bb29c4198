import { describe, expect, it } from 'vitest';
import { deriveBlock } from '../../processors/derive-block.ts';
import { createMemoryState } from '../../processors/state/memory-state.ts';
import { balance, output, spend } from '../../test/support/pipeline/sinks/made-facts.ts';
import { RECORDED_CHAIN, recordedBlocks } from '../../test/support/processors/recorded-chain.ts';
import { createCachedState } from './cached-state.ts';

const A = 'a'.repeat(64);

describe('a cached state', () => {
  it('gives the processors the same results as a complete state', () => {
    const whole = createMemoryState(RECORDED_CHAIN);
    const held = createCachedState(RECORDED_CHAIN, null);
    for (const block of recordedBlocks()) expect(deriveBlock(block, held)).toEqual(deriveBlock(block, whole));
  });

  it('records the balances that were looked up but not loaded', () => {
    const held = createCachedState(RECORDED_CHAIN, null);
    held.put(balance('found', 1n));
    held.putNoBalance('known to be empty', 'iN');
    held.apply(1, [balance('made', 3n)]);
    expect(held.balance('found', 'iN')).toEqual(balance('found', 1n));
    expect(held.balance('known to be empty', 'iN')).toBeUndefined();
    expect(held.balance('made', 'iN')?.balance).toBe(3n);
    expect(held.knowsBalance('known to be empty', 'iN')).toBe(true);
    expect([...held.missed.pairs()]).toEqual([]);

    expect(held.balance('forgotten', 'iN')).toBeUndefined();
    expect(held.balance('found', 'iX')).toBeUndefined();
    expect(held.knowsBalance('found', 'iX')).toBe(false);
    expect([...held.missed.pairs()]).toEqual([
      ['forgotten', 'iN'],
      ['found', 'iX'],
    ]);
  });

  it('loses an output when it is spent', () => {
    const held = createCachedState(RECORDED_CHAIN, null);
    held.apply(1, [output(A, 0), output(A, 7)]);
    held.apply(2, [spend(A, 7, A, 0)]);
    expect(held.output(A, 0)).toMatchObject({ txid: A, n: 0, height: 1 });
    expect(held.output(A, 7)).toBeUndefined();
    expect(held.output(A, 1)).toBeUndefined();
  });

  it('keeps what the last batch touched, and is bounded', () => {
    const held = createCachedState(RECORDED_CHAIN, null);
    const id = (number: number) => number.toString(16).padStart(64, '0');
    for (let batch = 0; batch < 30; batch++) {
      for (let made = 0; made < 10_000; made++) held.apply(batch, [output(id(batch * 10_000 + made), 0)]);
      held.age();
      expect(held.output(id(batch * 10_000), 0)).toBeDefined();
    }
    expect(held.output(id(0), 0)).toBeUndefined();
  });
});
