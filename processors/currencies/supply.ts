/** The effect of a block on the chain's money supply. */
import type { BlockFact } from '../../schemas/facts.ts';
import type { DaemonBlock } from '../../schemas/verusd/block.ts';
import { spentOutputs } from '../balances/spent-outputs.ts';
import { asObject, asSatoshis } from '../decoding/decoded-object.ts';
import type { BlockInput, ChainState } from '../state/chain-state.ts';

export type SupplyDetail = Pick<BlockFact, 'transparentChange' | 'shieldedSupply'>;

/** The block's outputs must be applied to `state`, its spends not yet. */
export function deriveSupply({ block }: BlockInput, state: ChainState): SupplyDetail {
  return {
    transparentChange: block.height === 0 ? 0n : transparentChange(block, state),
    shieldedSupply: shieldedSupply(block),
  };
}

/** Native coins in created outputs minus those in spent outputs. */
function transparentChange(block: DaemonBlock, state: ChainState): bigint {
  let change = 0n;
  for (const tx of block.tx) {
    for (const { n } of tx.vout) change += state.output(tx.txid, n)?.value ?? 0n;
    for (const { value } of spentOutputs(tx, state)) change -= value;
  }
  return change;
}

/** Returns null when the daemon has not watched every pool from its beginning. */
function shieldedSupply({ valuePools }: DaemonBlock): bigint | null {
  let supply = 0n;
  for (const pool of valuePools ?? []) {
    const held = asSatoshis(asObject(pool)?.chainValue);
    if (held === undefined) return null;
    supply += held;
  }
  return valuePools ? supply : null;
}
