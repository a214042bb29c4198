/**
 * The facts of a block. They are derived by processors/, written to the stores and, if their definition marks them as published, sent to
 * the `facts` topic. Height, block time and source position are stored once, in the batch that contains the facts. Amounts are satoshis.
 */
import { ACTIVITY, type ActivityFact } from './facts/activity.ts';
import { BALANCE, type BalanceFact } from './facts/balance.ts';
import { BLOCK, type BlockFact } from './facts/block.ts';
import { CURRENCY, type CurrencyFact } from './facts/currency.ts';
import {
  CURRENCY_STATE,
  type CurrencyStateFact,
  RESERVE_SNAPSHOT,
  type ReserveSnapshotFact,
} from './facts/currency-state.ts';
import { DEAD_LETTER, type DeadLetterFact } from './facts/dead-letter.ts';
import type { Definition } from './facts/definition.ts';
import { EXPORT, type ExportFact } from './facts/export.ts';
import { IDENTITY, type IdentityFact } from './facts/identity.ts';
import { IMPORT, type ImportFact } from './facts/import.ts';
import { OUTPUT, type OutputFact, SPEND, type SpendFact } from './facts/output.ts';
import { REWARD, type RewardFact } from './facts/reward.ts';
import { TRANSACTION, type TransactionFact } from './facts/transaction.ts';
import { TRANSFER, type TransferFact } from './facts/transfer.ts';

export type { StakeDetail } from './facts/block.ts';
export { CURRENCY_TYPES, type CurrencyType } from './facts/currency.ts';
export { DEAD_LETTER_SCOPES, type DeadLetterScope } from './facts/dead-letter.ts';
export type { CurrencyAmounts } from './facts/fields.ts';
export { IDENTITY_CHANGE_KINDS, type IdentityChangeKind } from './facts/identity.ts';
export { TRANSACTION_TYPES, type TransactionType } from './facts/transaction.ts';
export { ARRIVAL_PLACES } from './facts/transfer.ts';
export type {
  ActivityFact,
  BalanceFact,
  BlockFact,
  CurrencyFact,
  CurrencyStateFact,
  DeadLetterFact,
  ExportFact,
  IdentityFact,
  ImportFact,
  OutputFact,
  ReserveSnapshotFact,
  RewardFact,
  SpendFact,
  TransactionFact,
  TransferFact,
};

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

/** Every definition, in the order in which the stores are written. */
export const DEFINITIONS = {
  block: BLOCK,
  transaction: TRANSACTION,
  output: OUTPUT,
  spend: SPEND,
  activity: ACTIVITY,
  balance: BALANCE,
  identity: IDENTITY,
  currency: CURRENCY,
  currency_state: CURRENCY_STATE,
  reserve_snapshot: RESERVE_SNAPSHOT,
  transfer: TRANSFER,
  export: EXPORT,
  import: IMPORT,
  reward: REWARD,
  dead_letter: DEAD_LETTER,
} as const satisfies { readonly [T in FactType]: { readonly type: T } };

/** The definitions as a list, for code that treats all of them alike. */
export const FACTS: readonly Definition<FactType>[] = Object.values(DEFINITIONS);
export const definitionOf = (type: FactType): Definition<FactType> => DEFINITIONS[type];

/** Facts that consumers of the `facts` topic need. */
export const PUBLISHED_FACTS: readonly FactType[] = FACTS.filter(({ published }) => published).map(({ type }) => type);
