/** One row per block. */
import { LosslessNumber } from 'lossless-json';
import { exactInteger } from '../../domain/satoshi.ts';
import type { BlockFact, RewardFact, StakeDetail, TransactionFact } from '../../schemas/facts.ts';
import type { DaemonBlock } from '../../schemas/verusd/block.ts';
import type { SupplyDetail } from '../currencies/supply.ts';
import { asObject, asSatoshis, decodedObject } from '../decoding/decoded-object.ts';
import type { BlockInput, ChainState } from '../state/chain-state.ts';

/** `transactions` and `rewards` are the block's own. */
export function deriveBlockRow(
  input: BlockInput,
  state: ChainState,
  transactions: readonly TransactionFact[],
  rewards: readonly RewardFact[],
): Omit<BlockFact, keyof SupplyDetail> {
  const { block, clock } = input;
  return {
    type: 'block',
    hash: block.hash,
    previousHash: block.previousblockhash ?? null,
    time: block.time,
    clock,
    size: block.size,
    txCount: block.tx.length,
    validationType: block.validationtype,
    difficulty: block.difficulty instanceof LosslessNumber ? block.difficulty.value : String(block.difficulty),
    bits: block.bits,
    nonce: block.nonce,
    version: block.version,
    merkleRoot: block.merkleroot,
    chainWork: block.chainwork,
    chainStake: block.chainstake,
    reward: coinbaseReward(block),
    minerAddress: block.posrewarddest ?? block.postxddest ?? rewards[0]?.address ?? null,
    fees: transactions.reduce((sum, { fee }) => sum + (fee ?? 0n), 0n),
    feePool: feePool(block, state.chain.nativeCurrencyId),
    stake: stakeDetail(block),
  };
}

function coinbaseReward(block: DaemonBlock): bigint {
  let reward = 0n;
  for (const output of block.tx[0]?.vout ?? []) {
    if (!('feepool' in output.scriptPubKey)) reward += exactInteger(output.valueSat);
  }
  return reward;
}

function feePool(block: DaemonBlock, nativeCurrencyId: string): bigint | null {
  for (const { scriptPubKey } of block.tx[0]?.vout ?? []) {
    const pool = decodedObject(scriptPubKey, 'feepool');
    if (pool) return asSatoshis(asObject(pool.currencyvalues)?.[nativeCurrencyId]) ?? 0n;
  }
  return null;
}

function stakeDetail(block: DaemonBlock): StakeDetail | null {
  const { possourcetxid: sourceTxid, possourcevoutnum: sourceVout } = block;
  const staked = block.tx.at(-1);
  if (block.validationtype !== 'stake' || !staked || sourceTxid === undefined || sourceVout === undefined) return null;
  return {
    txid: staked.txid,
    address: block.postxddest ?? null,
    rewardAddress: block.posrewarddest ?? null,
    sourceTxid,
    sourceVout,
    amount: exactInteger(staked.vout[0]?.valueSat ?? 0),
  };
}
