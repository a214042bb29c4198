/** Blocks and their lists. */
import { describe, expect, it } from 'vitest';
import type { TestClient } from '../client.ts';
import { CHAIN, NATIVE } from '../running-service.ts';
import { blocks, type LooseJson, recordedText, sat, tip } from '../truth.ts';

const FEE_POOL = 'feepool';

export function blocksConform(client: TestClient): void {
  describe('blocks', () => {
    const expected = (block: LooseJson) => ({
      chain: CHAIN,
      height: block.height,
      hash: block.hash,
      time: block.time,
      txCount: block.tx.length,
      size: block.size,
      difficulty: String(block.difficulty),
      validationType: block.validationtype,
      blockReward: rewardOf(block.tx[0]),
      stakeAmount: block.validationtype === 'stake' ? sat(block.tx.at(-1).vout[0].value) : null,
    });
    const answered = (row: LooseJson) => ({
      chain: row.chain,
      height: row.height,
      hash: row.hash,
      time: row.time,
      txCount: row.txCount,
      size: row.size,
      difficulty: String(row.difficulty),
      validationType: row.validationType,
      blockReward: sat(row.blockReward),
      stakeAmount: row.stakeAmount === null ? null : sat(row.stakeAmount),
    });

    function rewardOf(coinbase: LooseJson): string {
      const paid = coinbase.vout.filter((output: LooseJson) => !(FEE_POOL in output.scriptPubKey));
      return paid.reduce((sum: bigint, output: LooseJson) => sum + BigInt(sat(output.value)), 0n).toString();
    }

    it('lists all of them, newest first, the same at every page size', async () => {
      const rows = await client.walk('/api/blocks/', 200);
      expect(rows.map(answered)).toEqual(blocks.map(expected).reverse());
      expect(await client.walk('/api/blocks', 97)).toEqual(rows);
    });

    it('shows each one whole', async () => {
      for (const block of blocks) {
        const row = await client.json(`/api/blocks/${block.height}`);
        expect(answered(row)).toEqual(expected(block));
        expect(row).toMatchObject({
          previousHash: block.previousblockhash ?? null,
          nextHash: blocks[block.height + 1]?.hash ?? null,
          merkleRoot: block.merkleroot,
          chainWork: block.chainwork,
          chainStake: block.chainstake,
          bits: block.bits,
          nonce: block.nonce,
          version: block.version,
          confirmations: tip - block.height + 1,
        });
        expect(row.transactions.map(({ txid }: LooseJson) => txid)).toEqual(
          block.tx.map(({ txid }: LooseJson) => txid),
        );
        const pool = block.tx[0].vout.find((output: LooseJson) => FEE_POOL in output.scriptPubKey)?.scriptPubKey
          .feepool;
        const held = pool ? sat(pool.currencyvalues[NATIVE] ?? 0) : null;
        expect(row.feePool === null ? null : sat(row.feePool)).toBe(held);
      }
    });

    it('gives raw blocks byte for byte', async () => {
      const lines = recordedText('blocks.jsonl.gz').trim().split('\n');
      for (const height of [0, 1, 500, tip]) {
        const text = await (await client.raw(`/api/blocks/${height}/raw`)).text();
        expect(lines[height]?.includes(`"block":${text.trim()}`), `block ${height}`).toBe(true);
      }
    });
  });
}
