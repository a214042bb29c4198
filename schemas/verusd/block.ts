/** The daemon's verbose block (`getblock hash 2`), read with parseExact. Only what a processor reads is declared. */
import type { ExactNumber } from '../../domain/satoshi.ts';

export type CurrencyMap = Readonly<Record<string, ExactNumber>>;

export interface DaemonBlock {
  readonly hash: string;
  readonly height: number;
  readonly previousblockhash?: string;
  readonly time: number;
  readonly size: number;
  readonly version: number;
  readonly merkleroot: string;
  readonly nonce: string;
  readonly bits: string;
  readonly difficulty: ExactNumber;
  readonly chainwork: string;
  readonly chainstake: string;
  readonly validationtype: 'work' | 'stake';
  readonly postxddest?: string;
  readonly posrewarddest?: string;
  readonly possourcetxid?: string;
  readonly possourcevoutnum?: number;
  readonly postarget?: string;
  readonly valuePools?: readonly unknown[];
  readonly tx: readonly DaemonTransaction[];
}

export interface DaemonTransaction {
  readonly txid: string;
  readonly overwintered: boolean;
  readonly version: number;
  readonly locktime: number;
  readonly expiryheight?: number;
  readonly vin: readonly DaemonInput[];
  readonly vout: readonly DaemonOutput[];
  readonly valueBalance?: ExactNumber;
  readonly vjoinsplit?: readonly unknown[];
  readonly vShieldedSpend?: readonly unknown[];
  readonly vShieldedOutput?: readonly unknown[];
}

export interface DaemonInput {
  readonly coinbase?: string;
  readonly txid?: string;
  readonly vout?: number;
  readonly scriptSig?: { readonly hex: string };
  readonly sequence: number;
}

export interface DaemonOutput {
  readonly value: ExactNumber;
  readonly valueSat: ExactNumber;
  readonly n: number;
  readonly scriptPubKey: DaemonScript;
}

/** A decoded kind may be the string "invalid" (or "") instead of an object: guard with typeof. */
export interface DaemonScript {
  readonly type: string;
  readonly hex?: string;
  readonly addresses?: readonly string[];
  readonly spendableoutput?: boolean;
  readonly [kind: string]: unknown;
}
