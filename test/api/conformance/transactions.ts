/** Every transaction, with its inputs and outputs. */
import { describe, expect, it } from 'vitest';
import type { TestClient } from '../client.ts';
import { CHAIN, NATIVE } from '../running-service.ts';
import { amounts, blocks, type LooseJson, recordedText, sat, tip, tokens } from '../truth.ts';

const HOLDERS_OF_TOKENS = ['reserveoutput', 'reservedeposit', 'reservetransfer', 'commitmenthash'];

export function transactionsConform(client: TestClient): void {
  describe('transactions', () => {
    const outputs = new Map<string, LooseJson>();
    for (const block of blocks) {
      for (const tx of block.tx) for (const output of tx.vout) outputs.set(`${tx.txid}:${output.n}`, output);
    }

    function held(output: LooseJson): Record<string, string> {
      for (const kind of HOLDERS_OF_TOKENS) {
        const decoded = output.scriptPubKey[kind];
        if (typeof decoded === 'object') return withFees(kind, decoded);
      }
      return {};
    }

    /** A transfer also contains its fees if they are paid in a token; a mint contains nothing else. */
    function withFees(kind: string, decoded: LooseJson): Record<string, string> {
      const values = tokens(decoded.mint ? {} : decoded.currencyvalues);
      if (kind !== 'reservetransfer' || decoded.feecurrencyid === NATIVE) return values;
      const fee = BigInt(sat(decoded.fees)) + BigInt(values[decoded.feecurrencyid] ?? '0');
      return fee === 0n ? values : { ...values, [decoded.feecurrencyid]: fee.toString() };
    }

    it('shows the inputs and outputs of each', async () => {
      for (const block of blocks) {
        for (const [index, tx] of block.tx.entries()) {
          const row = await client.once(`/api/tx/${tx.txid}`);
          expect(row).toMatchObject({
            chain: CHAIN,
            txid: tx.txid,
            height: block.height,
            blockHash: block.hash,
            time: block.time,
            confirmations: tip - block.height + 1,
            isCoinbase: index === 0,
            lockTime: tx.locktime,
          });
          const spent = tx.vin.filter((input: LooseJson) => input.txid !== undefined);
          expect(
            row.inputs.map((input: LooseJson) => [input.txid, input.vout, sat(input.value), amounts(input.currencies)]),
          ).toEqual(
            spent.map((input: LooseJson) => {
              const source = outputs.get(`${input.txid}:${input.vout}`);
              return [input.txid, input.vout, sat(source.value), held(source)];
            }),
          );
          expect(
            row.outputs.map((output: LooseJson) => [output.n, sat(output.value), amounts(output.currencies)]),
          ).toEqual(tx.vout.map((output: LooseJson) => [output.n, sat(output.value), held(output)]));
          expect(row.outputs.map((output: LooseJson) => output.spentTxid)).toEqual(
            tx.vout.map((output: LooseJson) => (output.spentHeight > 0 ? output.spentTxId : null)),
          );
          expect(row.outputs.map((output: LooseJson) => output.addresses)).toEqual(
            tx.vout.map((output: LooseJson) => [...new Set(output.scriptPubKey.addresses ?? [])]),
          );
        }
      }
    }, 600_000);

    it('returns raw transactions byte for byte', async () => {
      const lines = recordedText('txs.jsonl.gz').trim().split('\n');
      for (const line of lines.filter((_, index) => index % 300 === 7)) {
        const txid = /"txid":"([0-9a-f]{64})"/.exec(line)?.[1];
        const text = await (await client.raw(`/api/tx/${txid}/raw`)).text();
        expect(line.includes(text.trim()), `transaction ${txid}`).toBe(true);
      }
    });
  });
}
