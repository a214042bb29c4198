/** Outputs made and outputs spent by a block. */
import type { OutputFact, SpendFact } from '../../schemas/facts.ts';
import { decodeOutput } from '../decoding/decode-output.ts';
import type { BlockInput, ChainState } from '../state/chain-state.ts';

/** In order of transaction and output. The outputs of genesis are recorded although they can never be spent. */
export function deriveOutputs(input: BlockInput, state: ChainState): OutputFact[] {
  return input.block.tx.flatMap((tx, txIndex) =>
    tx.vout.map((output) => {
      const { value, currencies, kind, addresses, data } = decodeOutput(output, state.chain.nativeCurrencyId);
      return { type: 'output', txid: tx.txid, txIndex, n: output.n, value, currencies, kind, addresses, data };
    }),
  );
}

/** In order of transaction and input. */
export function deriveSpends(input: BlockInput): SpendFact[] {
  const spends: SpendFact[] = [];
  for (const tx of input.block.tx) {
    tx.vin.forEach(({ txid, vout }, spentIndex) => {
      if (txid === undefined || vout === undefined) return;
      spends.push({ type: 'spend', txid, n: vout, spentTxid: tx.txid, spentIndex });
    });
  }
  return spends;
}
