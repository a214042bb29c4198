/**
 * What a processor may look up. The runner loads it for a batch and applies each block's facts before the next block,
 * so that a processor sees the chain as it stands right before (and, for what ran earlier in the block, inside) its block.
 */
import type {
  CurrencyFact,
  CurrencyStateFact,
  DeadLetterScope,
  ExportFact,
  IdentityFact,
  OutputFact,
  TransferFact,
} from '../schemas/facts.ts';
import type { DaemonBlock } from '../schemas/verusd/block.ts';

export interface ChainContext {
  /** Short name of the configuration. */
  readonly name: string;
  /** i-address of the chain's native currency. */
  readonly nativeCurrencyId: string;
  /** The name on top of all names of its network: `VRSC`. */
  readonly networkRoot: string;
}

export interface BlockTip {
  readonly height: number;
  readonly hash: string;
  readonly time: number;
  readonly clock: number;
}

/** An output that may still be spent; `height` is where it was made. */
export type OutputState = Omit<OutputFact, 'type'> & { readonly height: number };

/** `height` is that of the block which left it. */
export type CurrencyStateAt = CurrencyStateFact & { readonly height: number };

export interface BalanceState {
  readonly balance: bigint;
  readonly received: bigint;
}

/** Whether a dead letter of this scope may hold coins that later transactions spend. */
export function losesCoins(scope: DeadLetterScope): boolean {
  return scope === 'block' || scope === 'transaction';
}

export interface ChainState {
  readonly chain: ChainContext;
  /** Whether dead letters took coins from the chain, so that one that is spent may be unknown. */
  readonly lostCoins: boolean;
  /** The block before this one; null before genesis. */
  readonly tip: BlockTip | null;
  output(txid: string, n: number): OutputState | undefined;
  balance(address: string, currencyId: string): BalanceState | undefined;
  /** Newest state of an identity. */
  identity(identityAddress: string): IdentityFact | undefined;
  currency(currencyId: string): CurrencyFact | undefined;
  currencyState(currencyId: string): CurrencyStateAt | undefined;
  /** Every currency state that is current: few, so always loaded whole. */
  currencyStates(): Iterable<CurrencyStateAt>;
  transfer(txid: string, vout: number): TransferFact | undefined;
  export(txid: string, vout: number): ExportFact | undefined;
}

export interface BlockInput {
  readonly block: DaemonBlock;
  /** Running maximum of block times, this block included. */
  readonly clock: number;
}
