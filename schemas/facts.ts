/**
 * What a block did. Facts are derived by processors/, written to the stores and (those of PUBLISHED_FACTS) to the `facts`
 * topic. Height, block time and source position stand once, in the batch around them. Amounts are satoshis.
 */
import type { ReserveBalance } from '../domain/reserves.ts';
import type { TransferKind, TransferStatus } from '../domain/transfers.ts';

/** i-address → satoshis; the native coin is never in it unless a field says so, and no entry is zero. */
export type CurrencyAmounts = Readonly<Record<string, bigint>>;

export interface BlockFact {
  readonly type: 'block';
  readonly hash: string;
  readonly previousHash: string | null;
  /** Seconds since the epoch, as the block says; may step back. */
  readonly time: number;
  /** Running maximum of the chain's block times. */
  readonly clock: number;
  readonly size: number;
  readonly txCount: number;
  readonly validationType: 'work' | 'stake';
  /** Number token of the daemon. */
  readonly difficulty: string;
  readonly bits: string;
  readonly nonce: string;
  readonly version: number;
  readonly merkleRoot: string;
  readonly chainWork: string;
  readonly chainStake: string;
  /** Σ coinbase outputs without the fee pool. */
  readonly reward: bigint;
  readonly minerAddress: string | null;
  /** Σ of the transactions' own fees. */
  readonly fees: bigint;
  /** Native content of the coinbase's fee pool output; null where there is none. */
  readonly feePool: bigint | null;
  /** Native coins of the outputs made less those of the outputs spent: summed up to a height, the transparent supply. */
  readonly transparentChange: bigint;
  /** Native coins in shielded pools after the block; null where the daemon does not tell. */
  readonly shieldedSupply: bigint | null;
  readonly stake: StakeDetail | null;
}

export interface StakeDetail {
  /** Stake transaction: the block's last. */
  readonly txid: string;
  readonly address: string | null;
  readonly rewardAddress: string | null;
  readonly sourceTxid: string;
  readonly sourceVout: number;
  readonly amount: bigint;
}

export const TRANSACTION_TYPES = [
  'coinbase',
  'stake',
  'transfer',
  'conversion',
  'preconversion',
  'import',
  'export',
  'identity_registration',
  'identity_update',
  'name_commitment',
  'currency_definition',
  'notarization',
  'offer',
  'bridge',
  'burn',
  'mint',
  'shielded',
] as const;
export type TransactionType = (typeof TRANSACTION_TYPES)[number];

export interface TransactionFact {
  readonly type: 'transaction';
  readonly txid: string;
  readonly txIndex: number;
  /** First match of `kinds`. */
  readonly kind: TransactionType;
  /** Every kind that fits, in order of precedence. */
  readonly kinds: readonly TransactionType[];
  /** Native; null for a coinbase and for an import, whose surplus is not a miner fee. */
  readonly fee: bigint | null;
  /** Serialised bytes. */
  readonly size: number;
  readonly lockTime: number;
  readonly expiryHeight: number;
}

export interface OutputFact {
  readonly type: 'output';
  readonly txid: string;
  readonly txIndex: number;
  readonly n: number;
  readonly value: bigint;
  readonly currencies: CurrencyAmounts;
  /** The decoded kind's key (`reservetransfer`, `identityprimary` …), else the script type (`pubkeyhash` …). */
  readonly kind: string;
  readonly addresses: readonly string[];
  /** Decoded object as the daemon printed it (JSON text), null for plain scripts. */
  readonly data: string | null;
}

export interface SpendFact {
  readonly type: 'spend';
  /** The output that is spent. */
  readonly txid: string;
  readonly n: number;
  readonly spentTxid: string;
  readonly spentIndex: number;
}

/** What one transaction did to one address. */
export interface ActivityFact {
  readonly type: 'activity';
  readonly address: string;
  readonly txid: string;
  readonly txIndex: number;
  /** Native, gross. */
  readonly received: bigint;
  readonly sent: bigint;
  /** Gross, by every other currency; the stores keep the net in Postgres and both sides in ClickHouse. */
  readonly currencies: Readonly<Record<string, { readonly received: bigint; readonly sent: bigint }>>;
}

/** State after the block. */
export interface BalanceFact {
  readonly type: 'balance';
  readonly address: string;
  /** The native coin under its own id. */
  readonly currencyId: string;
  readonly balance: bigint;
  /** Ever received; a sum, so it may exceed int64. */
  readonly received: bigint;
}

export const IDENTITY_CHANGE_KINDS = [
  'registered',
  'recovered',
  'revoked',
  'locked',
  'unlock_requested',
  'unlocked',
  'authority_changed',
  'keys_changed',
  'currency_defined',
  'content_updated',
  'other',
] as const;
export type IdentityChangeKind = (typeof IDENTITY_CHANGE_KINDS)[number];

export interface IdentityFact {
  readonly type: 'identity';
  readonly identityAddress: string;
  readonly name: string;
  readonly parent: string;
  /** With the root chain's name, without the final @: `alice.VRSC`. */
  readonly fullyQualifiedName: string;
  readonly txid: string;
  readonly vout: number;
  readonly txIndex: number;
  readonly kind: IdentityChangeKind;
  readonly flags: number;
  readonly timelock: number;
  readonly revocationAuthority: string;
  readonly recoveryAuthority: string;
  readonly primaryAddresses: readonly string[];
  readonly minimumSignatures: number;
  /** Height of the first state. */
  readonly registeredHeight: number;
  /** i-address of the referrer, from the reservation; kept through later updates. */
  readonly referral: string | null;
  /** JSON text: {commitmentTxid, cost: {i-address: "satoshis"}}; null but for the state that a reservation registered. */
  readonly registration: string | null;
  /** JSON text: {key: [hash of each value]} in the shape of the content; null without content or when it cannot be read. */
  readonly contentHashes: string | null;
  /** JSON text: [{field, old, new}] against the state before. */
  readonly changes: string;
  /** The `identityprimary` object as the daemon printed it (JSON text). */
  readonly state: string;
}

export const CURRENCY_TYPES = ['native', 'token', 'basket', 'pbaas_chain', 'gateway', 'mapped'] as const;
export type CurrencyType = (typeof CURRENCY_TYPES)[number];

export interface CurrencyFact {
  readonly type: 'currency';
  readonly currencyId: string;
  readonly name: string;
  /** As getcurrency prints it: `Bridge.vETH`, on the root chain without the root's name. */
  readonly fullyQualifiedName: string;
  readonly parent: string | null;
  readonly systemId: string;
  readonly currencyType: CurrencyType;
  readonly options: number;
  readonly startBlock: number;
  readonly txid: string;
  readonly vout: number;
  readonly txIndex: number;
  /** The `currencydefinition` object as the daemon printed it (JSON text). */
  readonly definition: string;
}

/** State of a currency after one import (the last one of a block counts for that height). */
export interface CurrencyStateFact {
  readonly type: 'currency_state';
  readonly currencyId: string;
  readonly txid: string;
  readonly vout: number;
  readonly txIndex: number;
  readonly flags: number;
  readonly supply: bigint;
  readonly reserves: readonly ReserveBalance[];
  /** Height of the first live state (confirmed and complete, neither prelaunch nor refunding); null before. */
  readonly liveHeight: number | null;
  /** The `currencystate` object as the daemon printed it (JSON text). */
  readonly state: string;
}

/** State of a live basket after the last block of a 5-minute window; written by the block that opens the next window. */
export interface ReserveSnapshotFact {
  readonly type: 'reserve_snapshot';
  readonly currencyId: string;
  /** Start of the window, seconds since the epoch, a multiple of 300. */
  readonly window: number;
  /** Last block of the window. */
  readonly stateHeight: number;
  readonly supply: bigint;
  readonly reserves: readonly ReserveBalance[];
}

/** Key of a transfer that came from another chain: txid of its export, vout = exportVout × ARRIVAL_PLACES + exportIndex. */
export const ARRIVAL_PLACES = 2 ** 16;

/** A reserve transfer with all that is known of it after the block; one version a block that changed it. */
export interface TransferFact {
  readonly type: 'transfer';
  /** Key: the output that asked for it; of one that came from another chain its place in the export, see ARRIVAL_PLACES. */
  readonly txid: string;
  readonly vout: number;
  readonly kind: TransferKind;
  readonly status: TransferStatus;
  readonly flags: number;
  /** Null for a mint. */
  readonly fromCurrencyId: string | null;
  readonly toCurrencyId: string;
  readonly viaCurrencyId: string | null;
  /** The currency whose import executes it. */
  readonly importCurrencyId: string;
  /** Conversion fee inside, transfer fee outside. */
  readonly amountIn: bigint;
  readonly transferFee: bigint;
  readonly transferFeeCurrencyId: string;
  /** In the from currency, both legs of a via. */
  readonly conversionFee: bigint;
  /** Null while pending and when refunded; 0 for a burn and for dust. */
  readonly amountOut: bigint | null;
  readonly destination: string | null;
  /** First destination of the request's first spent output. */
  readonly source: string | null;
  /** Next system of a cross-chain send or next leg. */
  readonly destinationSystemId: string | null;
  /** Other system whose import executes it: its end is written there, not here. Null for what is executed here. */
  readonly importSystemId: string | null;
  /** Other system that it came from: its request stands there, not here. Null for what was asked for here. */
  readonly sourceSystemId: string | null;
  /** Block of the request; of one that came from another chain, of the import that brought it. */
  readonly requestHeight: number;
  readonly requestTime: number;
  readonly exportTxid: string | null;
  readonly exportVout: number | null;
  /** Place among the transfers of the export: with it the export names one transfer on both of its chains. */
  readonly exportIndex: number | null;
  readonly exportHeight: number | null;
  readonly importTxid: string | null;
  readonly importHeight: number | null;
  readonly importTime: number | null;
  /** Output of the import that paid it, or refunded it; null for a burn and for dust. */
  readonly payoutVout: number | null;
  /** Why status is `unmatched`. */
  readonly reason: string | null;
}

export interface ExportFact {
  readonly type: 'export';
  readonly txid: string;
  readonly vout: number;
  readonly txIndex: number;
  readonly currencyId: string;
  readonly sourceSystemId: string;
  readonly destinationSystemId: string;
  readonly flags: number;
  readonly rewardAddress: string | null;
  /** Keys of the transfers it gathers, in order. */
  readonly transfers: readonly { readonly txid: string; readonly vout: number }[];
}

export interface ImportFact {
  readonly type: 'import';
  readonly txid: string;
  readonly vout: number;
  readonly txIndex: number;
  readonly currencyId: string;
  readonly sourceSystemId: string;
  readonly exportTxid: string;
  readonly exportVout: number;
  readonly flags: number;
}

/** A coinbase output that pays somebody. */
export interface RewardFact {
  readonly type: 'reward';
  readonly address: string;
  readonly txid: string;
  readonly vout: number;
  readonly kind: 'mining' | 'staking';
  readonly amount: bigint;
}

export const DEAD_LETTER_SCOPES = ['block', 'transaction', 'input', 'output'] as const;
export type DeadLetterScope = (typeof DEAD_LETTER_SCOPES)[number];

/** A part of a block that could not be decoded: what stands in it is derived nowhere else. */
export interface DeadLetterFact {
  readonly type: 'dead_letter';
  /** Place among the dead letters of its block. */
  readonly ordinal: number;
  readonly scope: DeadLetterScope;
  /** Of the transaction; null for a block, and where it is not readable. */
  readonly txid: string | null;
  /** Index of the input or output in its transaction. */
  readonly n: number | null;
  /** Stable: docs/errors.md. */
  readonly code: string;
  readonly message: string;
  /** The part as JSON text; null where it is large or the whole block: the log's record at this position holds it. */
  readonly payload: string | null;
}

export type Fact =
  | BlockFact
  | TransactionFact
  | OutputFact
  | SpendFact
  | ActivityFact
  | BalanceFact
  | IdentityFact
  | CurrencyFact
  | CurrencyStateFact
  | ReserveSnapshotFact
  | TransferFact
  | ExportFact
  | ImportFact
  | RewardFact
  | DeadLetterFact;

export type FactType = Fact['type'];
export type FactOf<T extends FactType> = Extract<Fact, { type: T }>;

/** Facts that consumers of the `facts` topic need; the rest is state that only the stores hold. */
export const PUBLISHED_FACTS: readonly FactType[] = [
  'block',
  'transaction',
  'activity',
  'identity',
  'currency',
  'currency_state',
  'transfer',
  'reserve_snapshot',
];
