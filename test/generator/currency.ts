/** The current state of a token or basket. It is only changed through the journal. */
import type { Coin } from './coins.ts';
import type { PendingTransfer } from './transfer-request.ts';

export interface Reserve {
  readonly id: string;
  /** 10^8 = 100 % */
  readonly weight: bigint;
  readonly amount: bigint;
}

/** Transfers that were gathered before the launch, which executes them. */
export interface PrelaunchExport {
  readonly txid: string;
  readonly vout: number;
  readonly height: number;
  readonly transfers: readonly PendingTransfer[];
}

export interface Currency {
  readonly id: string;
  readonly name: string;
  readonly kind: 'token' | 'basket';
  /** Whether its controller can mint. */
  readonly isCentralised: boolean;
  readonly startBlock: number;
  /** Whether it requires more preconversions than it gets. */
  readonly fails: boolean;
  /** For a basket: the supply that preconverters share. */
  readonly initialSupply: bigint;
  /** For a token: native satoshis for one token; 0 when preconversion is not possible. */
  readonly tokenPrice: bigint;
  readonly preallocation: { readonly to: string; readonly amount: bigint } | null;
  readonly definition: { readonly txid: string; readonly height: number };
  stage: 'prelaunch' | 'cleared' | 'live' | 'refunded';
  supply: bigint;
  reserves: readonly Reserve[];
  pending: PendingTransfer[];
  prelaunchExports: PrelaunchExport[];
  exportedHeight: number;
  notarizedHeight: number;
  /** Newest outputs of its threads. */
  importCoin: Coin;
  notarizationCoin: Coin;
  exportCoin: Coin;
  /** Finalization output of the export that is imported next. */
  finalizeCoin: Coin | null;
  deposits: readonly Coin[];
}

/** Reserve for one basket token, as in the state after an import. */
export function midPrice({ amount, weight }: Reserve, supply: bigint): bigint {
  return supply === 0n || weight === 0n ? 0n : (amount * 10n ** 16n) / (supply * weight);
}

/** At a launch the fraction is rounded up, so that preconverters never get more than the supply. */
export function launchPrice({ amount, weight }: Reserve, supply: bigint): bigint {
  const divisor = supply * weight;
  return (amount * 10n ** 16n + divisor - 1n) / divisor;
}
