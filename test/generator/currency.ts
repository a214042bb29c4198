/** A token or basket as it stands. Changed through the journal alone. */
import type { Coin } from './coins.ts';
import type { PendingTransfer } from './transfer-request.ts';

export interface Reserve {
  readonly id: string;
  /** 10^8 = 100 % */
  readonly weight: bigint;
  readonly amount: bigint;
}

/** What was gathered before the launch and is executed by it. */
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
  /** Its controller mints. */
  readonly isCentralised: boolean;
  readonly startBlock: number;
  /** Asks for more preconversions than it gets. */
  readonly fails: boolean;
  /** Of a basket: what preconverters share. */
  readonly initialSupply: bigint;
  /** Of a token, native satoshis for one; 0: nobody can preconvert. */
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
  /** Of the export that is to be imported. */
  finalizeCoin: Coin | null;
  deposits: readonly Coin[];
}

/** Reserve for one basket token, as the state says it after an import. */
export function midPrice({ amount, weight }: Reserve, supply: bigint): bigint {
  return supply === 0n || weight === 0n ? 0n : (amount * 10n ** 16n) / (supply * weight);
}

/** At a launch the fraction is rounded up: preconverters never get more than there is. */
export function launchPrice({ amount, weight }: Reserve, supply: bigint): bigint {
  const divisor = supply * weight;
  return (amount * 10n ** 16n + divisor - 1n) / divisor;
}
