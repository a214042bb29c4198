/** Blocks and their lists. */
import { describe, expect, it } from 'vitest';
import type { TestClient } from '../client.ts';
import { CHAIN, NATIVE } from '../running-service.ts';
import { amounts, blocks, type LooseJson, recordedText, sat, tip } from '../truth.ts';

const FEE_POOL = 'feepool';
/** One after the other, the answers would take longer than a test may. */
const AT_ONCE = 8;

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

    it.each(['work', 'stake'])('lists the blocks by %s', async (type) => {
      const { total } = await client.json(`/api/blocks/?validationType=${type}`);
      const rows = await client.walk(`/api/blocks/?validationType=${type}`, 200);
      const wanted = blocks.filter(({ validationtype }) => validationtype === type);
      expect(rows.map(answered)).toEqual(wanted.map(expected).reverse());
      expect([total, wanted.length > 0]).toEqual([wanted.length, true]);
    });

    async function checkDetail(block: LooseJson): Promise<void> {
      const row = await client.once(`/api/blocks/${block.height}`);
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
        canonical: true,
        removal: null,
      });
      expect(row.transactions.map(({ txid }: LooseJson) => txid)).toEqual(block.tx.map(({ txid }: LooseJson) => txid));
      for (const [index, { vout }] of block.tx.entries()) {
        const { value, currencies } = row.transactions[index];
        const coins = vout.reduce((sum: bigint, output: LooseJson) => sum + BigInt(sat(output.value)), 0n);
        expect([sat(value), amounts(currencies)]).toEqual([String(coins), await tokensOf(block.tx[index].txid)]);
      }
      const pool = block.tx[0].vout.find((output: LooseJson) => FEE_POOL in output.scriptPubKey)?.scriptPubKey.feepool;
      const held = pool ? sat(pool.currencyvalues[NATIVE] ?? 0) : null;
      expect(row.feePool === null ? null : sat(row.feePool)).toBe(held);
    }

    it('shows each block completely', async () => {
      for (let from = 0; from < blocks.length; from += AT_ONCE) {
        await Promise.all(blocks.slice(from, from + AT_ONCE).map(checkDetail));
      }
    });

    /** The sum over the transaction's own answer, which is compared with the daemon's elsewhere. */
    async function tokensOf(txid: string): Promise<Record<string, string>> {
      const { outputs } = await client.once(`/api/tx/${txid}`);
      const sums = new Map<string, bigint>();
      for (const { currencyId, amount } of outputs.flatMap((output: LooseJson) => output.currencies)) {
        sums.set(currencyId, (sums.get(currencyId) ?? 0n) + BigInt(sat(amount)));
      }
      return Object.fromEntries([...sums].map(([id, sum]) => [id, String(sum)] as const).sort());
    }

    it('are the same by hash', async () => {
      for (const { height, hash } of blocks.filter((block) => block.height % 97 === 0)) {
        expect(await client.json(`/api/blocks/${hash}`)).toEqual(await client.json(`/api/blocks/${height}`));
      }
    });

    it('returns raw blocks byte for byte', async () => {
      const lines = recordedText('blocks.jsonl.gz').trim().split('\n');
      for (const height of [0, 1, 500, tip]) {
        const text = await (await client.raw(`/api/blocks/${height}/raw`)).text();
        expect(lines[height]?.includes(`"block":${text.trim()}`), `block ${height}`).toBe(true);
      }
    });
  });
}
