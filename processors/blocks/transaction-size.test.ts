import { describe, expect, test } from 'vitest';
import type { DaemonBlock } from '../../schemas/verusd/block.ts';
import { block, output, payTo, transaction } from '../../test/support/processors/blocks.ts';
import { recordedBlocks, recordedLines } from '../../test/support/processors/recorded-chain.ts';
import { transactionSize } from './transaction-size.ts';

const compactSize = (count: number): number => (count < 0xfd ? 1 : count <= 0xffff ? 3 : 5);
const PLAIN = transaction('a', ['b:0'], [output(0, '1', payTo('RX'))]);
/** Header, group, input without a script, output with a script of one byte, times, value balance, three empty lists. */
const PLAIN_SIZE = 4 + 4 + 1 + (36 + 1 + 4) + 1 + (8 + 1 + 1) + 4 + 4 + 8 + 1 + 1 + 1;

describe('recorded', () => {
  const blocks = recordedBlocks() as readonly (DaemonBlock & { solution: string })[];

  test('every transaction that was recorded in hex', () => {
    const sizes = new Map(blocks.flatMap(({ tx }) => tx.map((made) => [made.txid, transactionSize(made)])));
    const rows = recordedLines<{ tx: { txid: string; hex: string } }>('txs.jsonl.gz');
    for (const { tx } of rows) expect(sizes.get(tx.txid), tx.txid).toBe(tx.hex.length / 2);
    expect(rows).toHaveLength(1690);
  });

  test('every block is its header and its transactions', () => {
    for (const { height, solution, size, tx } of blocks) {
      const header = 140 + compactSize(solution.length / 2) + solution.length / 2;
      const body = tx.reduce((sum, made) => sum + transactionSize(made), compactSize(tx.length));
      expect(header + body, `block ${height}`).toBe(size);
    }
  });
});

describe('formats that the recording does not contain', () => {
  test('sapling', () => {
    expect(transactionSize(PLAIN)).toBe(PLAIN_SIZE);
    expect(transactionSize({ ...PLAIN, vShieldedSpend: [{}, {}] })).toBe(PLAIN_SIZE + 2 * 384 + 64);
    expect(transactionSize({ ...PLAIN, vShieldedSpend: [{}], vShieldedOutput: [{}, {}] })).toBe(
      PLAIN_SIZE + 384 + 2 * 948 + 64,
    );
  });

  test('joinsplits: 1698 bytes with a new proof, 1802 with an old one, key and signature once', () => {
    const groth = { proof: '00'.repeat(192) };
    const phgr = { proof: '00'.repeat(296) };
    expect(transactionSize({ ...PLAIN, vjoinsplit: [groth] })).toBe(PLAIN_SIZE + 1698 + 96);
    expect(transactionSize({ ...PLAIN, vjoinsplit: [groth, groth] })).toBe(PLAIN_SIZE + 2 * 1698 + 96);
    const sprout = { ...PLAIN, overwintered: false, version: 2 };
    const sproutSize = PLAIN_SIZE - 4 - 4 - 8 - 1 - 1;
    expect(transactionSize(sprout)).toBe(sproutSize);
    expect(transactionSize({ ...sprout, vjoinsplit: [phgr] })).toBe(sproutSize + 1802 + 96);
  });

  test('overwinter has an expiry height and no shielded lists; version 1 no joinsplits either', () => {
    expect(transactionSize({ ...PLAIN, version: 3 })).toBe(PLAIN_SIZE - 8 - 1 - 1);
    expect(transactionSize({ ...PLAIN, overwintered: false, version: 1 })).toBe(PLAIN_SIZE - 4 - 4 - 8 - 1 - 1 - 1);
  });

  test.each([
    [252, 1],
    [253, 3],
    [65_535, 3],
    [65_536, 5],
  ])('a script of %i bytes has a length of %i', (bytes, length) => {
    const made = transaction(
      'a',
      ['b:0'],
      [output(0, '1', JSON.stringify({ type: 'nulldata', hex: '00'.repeat(bytes) }))],
    );
    expect(transactionSize(made)).toBe(PLAIN_SIZE - 2 + length + bytes);
  });

  test('a coinbase has its script where others have a signature', () => {
    const { tx } = block(1, [transaction('c', [], [output(0, '1', payTo('RX'))])]);
    expect(tx.map(transactionSize)).toEqual([PLAIN_SIZE + 1]);
  });
});
