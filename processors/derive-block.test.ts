import { describe, expect, test } from 'vitest';
import type { Fact } from '../schemas/facts.ts';
import type { DaemonBlock } from '../schemas/verusd/block.ts';
import { block, output, payTo, transaction } from '../test/support/processors/blocks.ts';
import { freeze } from '../test/support/processors/frozen.ts';
import { RECORDED_CHAIN, recordedBlocks } from '../test/support/processors/recorded-chain.ts';
import { foldRecording } from '../test/support/processors/recorded-fold.ts';
import { deriveBlock, UnlinkedBlockError } from './derive-block.ts';
import { createMemoryState } from './state/memory-state.ts';

/** Members that depend on the time of the query. */
const ASKED = new Set(['confirmations', 'nextblockhash', 'spentTxId', 'spentIndex', 'spentHeight']);

function withoutTheMoment<T>(value: T): T {
  if (Array.isArray(value)) return value.map(withoutTheMoment) as T;
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, inner]) => (ASKED.has(key) ? [] : [[key, withoutTheMoment(inner)]])),
  ) as T;
}

describe('recorded', () => {
  const { derived } = foldRecording();

  test('deriving the same blocks again gives the same facts and does not change the blocks', () => {
    const state = createMemoryState(RECORDED_CHAIN);
    for (const { block: recorded, facts } of derived) {
      expect(deriveBlock(freeze(recorded), state), `block ${recorded.height}`).toEqual(facts);
    }
  });

  test('nothing that depends on the time of the query is read', () => {
    const state = createMemoryState(RECORDED_CHAIN);
    let stripped = 0;
    for (const [height, recorded] of recordedBlocks().entries()) {
      const bare: DaemonBlock = withoutTheMoment(recorded);
      if (JSON.stringify(bare).length < JSON.stringify(recorded).length) stripped += 1;
      expect(deriveBlock(bare, state), `block ${height}`).toEqual(derived[height]?.facts);
    }
    expect(stripped).toBe(1552);
  });

  test('applying the facts alone gives the state that deriving left', () => {
    const applied = createMemoryState(RECORDED_CHAIN);
    for (const { block: recorded, facts } of derived.slice(0, -1)) applied.apply(recorded.height, facts);
    const last = derived.at(-1);
    const before = derived.at(-2)?.facts.find((fact) => fact.type === 'block');
    if (!last || !before) throw new Error('the recording is empty');
    applied.setTip({ height: last.block.height - 1, hash: before.hash, time: before.time, clock: before.clock });
    expect(deriveBlock(last.block, applied)).toEqual(last.facts);
  });

  test('the block comes first and only once, and no fact lacks a value', () => {
    for (const { facts } of derived) {
      expect(facts[0]?.type).toBe('block');
      expect(facts.filter(({ type }) => type === 'block')).toHaveLength(1);
      for (const fact of facts) expect(Object.values(fact)).not.toContain(undefined);
    }
  });
});

describe('made up', () => {
  const coinbase = (height: number) => transaction(`c${height}`, [], [output(0, '100', payTo('RX'))]);
  const derive = (...blocks: DaemonBlock[]): Fact[][] => {
    const state = createMemoryState(RECORDED_CHAIN);
    return blocks.map((made) => deriveBlock(made, state));
  };

  test('a block time that steps back does not move the clock', () => {
    const rows = derive(
      block(0, [coinbase(0)], { time: 1000 }),
      block(1, [coinbase(1)], { time: 900 }),
      block(2, [coinbase(2)], { time: 1100 }),
    ).map(([row]) => row);
    expect(rows.map((row) => row?.type === 'block' && [row.time, row.clock])).toEqual([
      [1000, 1000],
      [900, 1000],
      [1100, 1100],
    ]);
  });

  test('the tip is the block that was derived', () => {
    const state = createMemoryState(RECORDED_CHAIN);
    deriveBlock(block(0, [coinbase(0)], { time: 1000 }), state);
    deriveBlock(block(1, [coinbase(1)], { time: 900 }), state);
    expect(state.tip).toEqual({ height: 1, hash: 'b1', time: 900, clock: 1000 });
  });

  test.each([
    ['a block of another branch', block(1, [coinbase(1)], { previousblockhash: 'x' })],
    ['a height left out', block(2, [coinbase(2)], { previousblockhash: 'b0' })],
    ['a block a second time', block(0, [coinbase(0)])],
  ])('%s is refused', (_, wrong) => {
    expect(() => derive(block(0, [coinbase(0)]), wrong)).toThrow(UnlinkedBlockError);
  });

  test('a chain of spends within one block results in the balances after it', () => {
    const [, facts = []] = derive(
      block(0, [coinbase(0)]),
      block(1, [
        coinbase(1),
        transaction('t', ['c1:0'], [output(0, '90', payTo('RY'))]),
        transaction('u', ['t:0'], [output(0, '85', payTo('RX'))]),
      ]),
    );
    const balances = facts.flatMap((fact) =>
      fact.type === 'balance' ? [[fact.address, fact.balance, fact.received]] : [],
    );
    expect(balances).toEqual([
      ['RX', 85n, 185n],
      ['RY', 0n, 90n],
    ]);
    expect(facts[0]).toMatchObject({ type: 'block', fees: 15n, reward: 100n, minerAddress: 'RX' });
  });
});
