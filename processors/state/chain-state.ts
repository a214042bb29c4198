/**
 * The state that processors may look up. The runner loads it for a batch and applies each block's facts before the next block,
 * so that a processor sees the chain right before its block, plus the facts of the processors that ran earlier in the block.
 */
import type {
  BalanceFact,
  CurrencyFact,
  DEFINITIONS,
  DeadLetterScope,
  ExportFact,
  Fact,
  FactOf,
  FactType,
  IdentityFact,
  TransferFact,
} from '../../schemas/facts.ts';
import type { DaemonBlock } from '../../schemas/verusd/block.ts';

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

/** An output that may still be spent; `height` is that of the block that made it. */
export type OutputState = Recalled<'output'>;

/** `height` is that of the block that left the state. */
export type CurrencyStateAt = Recalled<'currency_state'>;

/** Whether a dead letter of this scope may contain coins that later transactions spend. */
export function losesCoins(scope: DeadLetterScope): boolean {
  return scope === 'block' || scope === 'transaction';
}

export interface ChainState {
  readonly chain: ChainContext;
  /** Whether dead letters have hidden coins, so that a spent output may be unknown. */
  readonly lostCoins: boolean;
  /** The block before this one; null before genesis. */
  readonly tip: BlockTip | null;
  output(txid: string, n: number): OutputState | undefined;
  balance(address: string, currencyId: string): BalanceFact | undefined;
  /** Newest state of an identity. */
  identity(identityAddress: string): IdentityFact | undefined;
  currency(currencyId: string): CurrencyFact | undefined;
  currencyState(currencyId: string): CurrencyStateAt | undefined;
  /** All current currency states: they are few, so they are always loaded completely. */
  currencyStates(): Iterable<CurrencyStateAt>;
  transfer(txid: string, vout: number): TransferFact | undefined;
  export(txid: string, vout: number): ExportFact | undefined;
}

type Recall<T extends FactType> = (typeof DEFINITIONS)[T]['recalled'];
/** The types of facts that are recalled by their definition. */
export type RecalledType = { [T in FactType]: Recall<T> extends 'no' ? never : T }[FactType];
/** Newest fact under a key. */
export type Recalled<T extends RecalledType> = T extends FactType
  ? Recall<T> extends 'fact_and_height'
    ? FactOf<T> & { readonly height: number }
    : FactOf<T>
  : never;

export interface MutableChainState extends ChainState {
  /** Applies `facts` of the block at `height`. */
  apply(height: number, facts: Iterable<Fact>): void;
  setTip(tip: BlockTip | null): void;
  /** Replaces the fact under the same key. */
  put(state: Recalled<RecalledType>): void;
  /** An overlay that leaves this state unchanged, to try the effect of a block. */
  overlay(): MutableChainState;
}

export interface BlockInput {
  readonly block: DaemonBlock;
  /** Running maximum of block times, this block included. */
  readonly clock: number;
}
