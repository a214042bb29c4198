/** Recipients of a block's reward. */

import { SYSTEM_ADDRESSES } from '../../domain/system-addresses.ts';
import type { RewardFact } from '../../schemas/facts.ts';
import type { BlockInput, ChainState } from '../state/chain-state.ts';

/** One reward for each person that an output of the coinbase pays, in order. The block's outputs must be applied to `state`. */
export function deriveRewards(input: BlockInput, state: ChainState): RewardFact[] {
  const { tx: transactions, validationtype } = input.block;
  const coinbase = transactions[0];
  if (!coinbase) return [];
  return coinbase.vout.flatMap(({ n }) => {
    const output = state.output(coinbase.txid, n);
    if (!output || output.value === 0n) return [];
    return output.addresses
      .filter((address) => !SYSTEM_ADDRESSES.has(address))
      .map((address) => ({
        type: 'reward' as const,
        address,
        txid: coinbase.txid,
        vout: n,
        kind: validationtype === 'stake' ? ('staking' as const) : ('mining' as const),
        amount: output.value,
      }));
  });
}
