/** Derives a waiting transaction with the processors that will derive it in its block. */
import { NULL_HASH } from '../../domain/hashes.ts';
import type { OutputFact } from '../../schemas/facts.ts';
import type { UnconfirmedInput, UnconfirmedTransaction } from '../../schemas/mempool.ts';
import type { DaemonBlock, DaemonTransaction } from '../../schemas/verusd/block.ts';
import { deriveActivity } from '../balances/activity.ts';
import { deriveOutputs } from '../balances/outputs.ts';
import { deriveTransactions } from '../blocks/transactions.ts';
import { readableBlock } from '../faults/readable-block.ts';
import { deriveIdentities } from '../identities/identities.ts';
import type { MutableChainState } from '../state/chain-state.ts';
import { transferRequests } from '../transfers/transfer-requests.ts';

/** Approximate memory of a transaction, and of each input, output, address and fact, in addition to its texts. */
const OWN_BYTES = 2_000;
const PART_BYTES = 300;

/** Returns a block around the transaction; null when `raw` is not a transaction. */
export function blockAround(raw: unknown, height: number, time: number): DaemonBlock | null {
  const block = { hash: NULL_HASH, height, previousblockhash: NULL_HASH, time, tx: [raw] };
  const { block: readable, faults } = readableBlock(block, NULL_HASH);
  return faults.some(({ scope }) => scope === 'transaction') ? null : readable;
}

/**
 * `state` must have the outputs that the transaction spends, as far as they are known, with their identities; afterwards it also has
 * the transaction's outputs. When a spent output is unknown, so are the fee and the sender of the transfers.
 */
export function deriveUnconfirmed(around: DaemonBlock, state: MutableChainState): UnconfirmedTransaction {
  const [whole] = around.tx;
  if (!whole) throw new RangeError('a block without a transaction');
  const inputs = inputsOf(whole, state);
  const tx = withoutUnknown(whole, state);
  const block = { ...around, tx: [tx] };
  const input = { block, clock: block.time };
  const outputs = deriveOutputs(input, state);
  state.apply(block.height, outputs);
  const [transaction] = deriveTransactions(input, state);
  if (!transaction) throw new RangeError(`transaction ${tx.txid} has no fact`);
  const { txid, kind, kinds, fee, size, lockTime, expiryHeight } = transaction;
  const activity = deriveActivity(input, state);
  const identities = deriveIdentities(input, state);
  const transfers = transferRequests(tx, block, state);
  const facts = { inputs, outputs, activity, identities, transfers };
  return { txid, kind, kinds, fee, size, lockTime, expiryHeight, ...facts, bytes: bytesOf(facts) };
}

function inputsOf({ vin }: DaemonTransaction, state: MutableChainState): UnconfirmedInput[] {
  return vin.flatMap(({ txid, vout: n }) => {
    if (txid === undefined || n === undefined) return [];
    const spent = state.output(txid, n);
    return { txid, n, spent: spent ? coinsOf(spent) : null };
  });
}

const coinsOf = ({ value, currencies, addresses }: OutputFact) => ({ value, currencies, addresses });

/** Removes the txid of each input whose output is unknown, so that it counts as an input that cannot be read. */
function withoutUnknown(tx: DaemonTransaction, state: MutableChainState): DaemonTransaction {
  const vin = tx.vin.map(({ txid, vout, ...rest }) =>
    txid === undefined || vout === undefined || !state.output(txid, vout) ? rest : { ...rest, txid, vout },
  );
  return { ...tx, vin };
}

type Facts = Pick<UnconfirmedTransaction, 'inputs' | 'outputs' | 'activity' | 'identities' | 'transfers'>;

function bytesOf({ inputs, outputs, activity, identities, transfers }: Facts): number {
  let bytes = OWN_BYTES + PART_BYTES * (inputs.length + transfers.length + identities.length);
  for (const { spent } of inputs) bytes += 64 * (spent?.addresses.length ?? 0);
  for (const { data, addresses, currencies } of outputs) {
    bytes += PART_BYTES + (data?.length ?? 0) + 64 * (addresses.length + Object.keys(currencies).length);
  }
  for (const { currencies } of activity) bytes += PART_BYTES + 150 * Object.keys(currencies).length;
  for (const { state, changes } of identities) bytes += state.length + 2 * changes.length;
  return bytes;
}
