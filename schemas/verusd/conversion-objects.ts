/** Decoded objects of `scriptPubKey` that conversions leave on the chain. Only what a processor reads is declared. */
import type { ExactNumber } from '../../domain/satoshi.ts';
import type { CurrencyMap, DaemonScript } from './block.ts';

export interface DaemonTransferDestination {
  /** An address; an object for an Ethereum NFT. */
  readonly address?: unknown;
  readonly identity?: { readonly identityaddress?: string };
  readonly type: number;
  /** Next system of a destination with another leg. */
  readonly gateway?: string;
}

export interface DaemonReserveTransfer {
  /** The one currency that is paid in, without the transfer fee; a mint names the native coin instead. */
  readonly currencyvalues: CurrencyMap;
  readonly flags: number;
  readonly exportto?: string;
  readonly feecurrencyid: string;
  readonly fees: ExactNumber;
  readonly destinationcurrencyid: string;
  readonly via?: string;
  readonly destination: DaemonTransferDestination;
}

export interface DaemonExport {
  readonly flags: number;
  readonly issupplemental?: boolean;
  readonly sourcesystemid: string;
  readonly destinationsystemid: string;
  readonly destinationcurrencyid: string;
  readonly numinputs: number;
  /** Meaningless when numinputs is 0. */
  readonly firstinput: number;
  readonly rewardaddress?: unknown;
  /** Present only when an import carries the transfers of another chain's export. */
  readonly transfers?: readonly DaemonReserveTransfer[];
}

export interface DaemonImport {
  readonly flags: number;
  readonly sourcesystemid: string;
  readonly importcurrencyid: string;
  readonly numoutputs: number;
  readonly exporttxid: string;
  readonly exporttxout: number;
}

export interface DaemonReserve {
  readonly currencyid: string;
  readonly weight: ExactNumber;
  readonly reserves: ExactNumber;
  readonly priceinreserve: ExactNumber;
}

export interface DaemonCurrencyState {
  readonly flags: number;
  readonly currencyid: string;
  readonly supply: ExactNumber;
  /** Baskets only; other currencies have `launchcurrencies`, which hold no reserves. */
  readonly reservecurrencies?: readonly DaemonReserve[];
  readonly currencies?: Readonly<
    Record<string, { readonly lastconversionprice: ExactNumber; readonly viaconversionprice: ExactNumber }>
  >;
}

export interface DaemonNotarization {
  readonly samechain?: boolean;
  readonly currencyid: string;
  readonly currencystate: DaemonCurrencyState;
}

interface DecodedObjects {
  readonly reservetransfer: DaemonReserveTransfer;
  readonly crosschainexport: DaemonExport;
  readonly crosschainimport: DaemonImport;
  readonly acceptednotarization: DaemonNotarization;
  readonly reserveoutput: { readonly currencyvalues: CurrencyMap };
}

/** Returns the decoded object under `kind`; null when the output is of another kind or the daemon could not decode it. */
export function conversionObject<K extends keyof DecodedObjects>(
  script: DaemonScript,
  kind: K,
): DecodedObjects[K] | null {
  const decoded = script[kind];
  return typeof decoded === 'object' && decoded !== null ? (decoded as DecodedObjects[K]) : null;
}
