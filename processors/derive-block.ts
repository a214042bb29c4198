/** Runs all processors in order: derives every fact of a block from the raw block and the state before it. */
import type { BlockRef } from '../domain/block-ref.ts';
import { PermanentError } from '../schemas/errors.ts';
import type { Fact } from '../schemas/facts.ts';
import type { DaemonBlock } from '../schemas/verusd/block.ts';
import { deriveActivity } from './balances/activity.ts';
import { deriveBalances } from './balances/balances.ts';
import { deriveOutputs, deriveSpends } from './balances/outputs.ts';
import { deriveBlockRow } from './blocks/blocks.ts';
import { deriveRewards } from './blocks/rewards.ts';
import { deriveTransactions } from './blocks/transactions.ts';
import { deriveCurrencies } from './currencies/currencies.ts';
import { deriveCurrencyStates } from './currencies/currency-states.ts';
import { deriveReserveSnapshots } from './currencies/reserve-snapshots.ts';
import { deriveSupply } from './currencies/supply.ts';
import { deriveIdentities } from './identities/identities.ts';
import type { BlockInput, MutableChainState } from './state/chain-state.ts';
import { deriveExportsAndImports } from './transfers/exports-and-imports.ts';
import { deriveTransfers } from './transfers/transfers.ts';

/** The block does not follow the tip of the state that it was given. */
export class UnlinkedBlockError extends PermanentError {
  constructor(block: Pick<DaemonBlock, 'height' | 'hash'>, chain: string, tip: BlockRef) {
    super(
      'unlinked_block',
      `chain ${chain}: block ${block.height} (${block.hash}) does not follow the tip ${tip.height} (${tip.hash}); ` +
        'a rewind record is missing from the log before it: rebuild the stores of this chain from its log',
    );
  }
}

/**
 * Returns the facts in the order in which consumers see them, the block first. Afterwards `state` is the state right after the
 * block; when it throws, `state` is unusable.
 */
export function deriveBlock(block: DaemonBlock, state: MutableChainState): Fact[] {
  const { tip } = state;
  if (tip && (block.height !== tip.height + 1 || block.previousblockhash !== tip.hash)) {
    throw new UnlinkedBlockError(block, state.chain.name, tip);
  }
  const input: BlockInput = { block, clock: Math.max(block.time, tip?.clock ?? block.time) };
  const applied = <F extends Fact>(facts: F[]): F[] => {
    state.apply(block.height, facts);
    return facts;
  };

  // Outputs are applied first and spends last, so that the processors between can look up the outputs that the block makes and spends.
  const outputs = applied(deriveOutputs(input, state));
  const transactions = deriveTransactions(input, state);
  const supply = deriveSupply(input, state);
  const activity = deriveActivity(input, state);
  const balances = applied(deriveBalances(activity, state));
  const rewards = deriveRewards(input, state);
  // Names of identities depend on those of currencies.
  const currencies = applied(deriveCurrencies(input, state));
  const identities = applied(deriveIdentities(input, state));
  // A snapshot covers the window that ended before this block.
  const snapshots = deriveReserveSnapshots(input, state);
  const currencyStates = applied(deriveCurrencyStates(input, state));
  const exportsAndImports = applied(deriveExportsAndImports(input));
  const transfers = applied(deriveTransfers(input, state));
  const spends = applied(deriveSpends(input));
  state.setTip({ height: block.height, hash: block.hash, time: block.time, clock: input.clock });

  return [
    { ...deriveBlockRow(input, state, transactions, rewards), ...supply },
    ...transactions,
    ...outputs,
    ...spends,
    ...activity,
    ...balances,
    ...rewards,
    ...currencies,
    ...identities,
    ...snapshots,
    ...currencyStates,
    ...exportsAndImports,
    ...transfers,
  ];
}
