/** Arbitrary records of `blocks` and `facts`; typed, so that a field added to a fact is missed here first. */
import fc from 'fast-check';
import type { ReserveBalance } from '../../../domain/reserves.ts';
import { TRANSFER_KINDS, TRANSFER_STATUSES } from '../../../domain/transfers.ts';
import { CURRENCY_TYPES, type Fact, type FactOf, IDENTITY_CHANGE_KINDS, TRANSACTION_TYPES } from '../../facts.ts';
import type { BlocksRecord, FactsRecord } from '../../log-records.ts';

type Arbitraries<T> = { [K in keyof T]: fc.Arbitrary<T[K]> };
const record = <T extends object>(fields: Arbitraries<T>): fc.Arbitrary<T> =>
  fc.record(fields, { noNullPrototype: true }) as fc.Arbitrary<T>;
const nullable = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.option(value, { nil: null });

const text = fc.string({ unit: 'grapheme', maxLength: 40 });
const id = fc.string({ unit: fc.constantFrom(...'abcdefHJKMNPR123456789'), minLength: 1, maxLength: 64 });
const count = fc.nat();
const seconds = fc.nat({ max: 2 ** 40 });
/** With a preference for what doubles and int64 get wrong. */
export const satoshis: fc.Arbitrary<bigint> = fc.oneof(
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  fc.constantFrom(0n, 10n ** 18n, 10n ** 18n + 1n, -(10n ** 18n), 2n ** 53n + 1n, 2n ** 63n - 1n, -(2n ** 63n)),
);

const output = { txid: id, vout: count, txIndex: count };

const reserves = fc.array(
  record<ReserveBalance>({ currencyId: id, weight: satoshis, reserves: satoshis, priceInReserve: satoshis }),
  { maxLength: 4 },
);

const block = record<FactOf<'block'>>({
  type: fc.constant('block'),
  hash: id,
  previousHash: nullable(id),
  time: seconds,
  clock: seconds,
  size: count,
  txCount: count,
  validationType: fc.constantFrom('work', 'stake'),
  difficulty: text,
  bits: id,
  nonce: id,
  version: fc.integer(),
  merkleRoot: id,
  chainWork: id,
  chainStake: id,
  reward: satoshis,
  minerAddress: nullable(id),
  fees: satoshis,
  feePool: nullable(satoshis),
  transparentChange: satoshis,
  shieldedSupply: nullable(satoshis),
  stake: nullable(
    record({
      txid: id,
      address: nullable(id),
      rewardAddress: nullable(id),
      sourceTxid: id,
      sourceVout: count,
      amount: satoshis,
    }),
  ),
});

const transaction = record<FactOf<'transaction'>>({
  type: fc.constant('transaction'),
  txid: id,
  txIndex: count,
  kind: fc.constantFrom(...TRANSACTION_TYPES),
  kinds: fc.array(fc.constantFrom(...TRANSACTION_TYPES), { maxLength: 4 }),
  fee: nullable(satoshis),
  size: count,
  lockTime: fc.nat({ max: 2 ** 32 - 1 }),
  expiryHeight: fc.nat({ max: 2 ** 32 - 1 }),
});

const activity = record<FactOf<'activity'>>({
  type: fc.constant('activity'),
  address: id,
  txid: id,
  txIndex: count,
  received: satoshis,
  sent: satoshis,
  currencies: fc.dictionary(id, record({ received: satoshis, sent: satoshis }), { maxKeys: 4, noNullPrototype: true }),
});

const identity = record<FactOf<'identity'>>({
  ...output,
  type: fc.constant('identity'),
  identityAddress: id,
  name: text,
  parent: id,
  fullyQualifiedName: text,
  kind: fc.constantFrom(...IDENTITY_CHANGE_KINDS),
  flags: fc.nat({ max: 2 ** 32 - 1 }),
  timelock: count,
  revocationAuthority: id,
  recoveryAuthority: id,
  primaryAddresses: fc.array(id, { maxLength: 3 }),
  minimumSignatures: count,
  registeredHeight: count,
  referral: nullable(id),
  registration: nullable(text),
  contentHashes: nullable(text),
  changes: text,
  state: text,
});

const currency = record<FactOf<'currency'>>({
  ...output,
  type: fc.constant('currency'),
  currencyId: id,
  name: text,
  fullyQualifiedName: text,
  parent: nullable(id),
  systemId: id,
  currencyType: fc.constantFrom(...CURRENCY_TYPES),
  options: count,
  startBlock: count,
  definition: text,
});

const currencyState = record<FactOf<'currency_state'>>({
  ...output,
  type: fc.constant('currency_state'),
  currencyId: id,
  flags: count,
  supply: satoshis,
  reserves,
  liveHeight: nullable(count),
  state: text,
});

const reserveSnapshot = record<FactOf<'reserve_snapshot'>>({
  type: fc.constant('reserve_snapshot'),
  currencyId: id,
  window: seconds,
  stateHeight: count,
  supply: satoshis,
  reserves,
});

const transfer = record<FactOf<'transfer'>>({
  type: fc.constant('transfer'),
  txid: id,
  vout: count,
  kind: fc.constantFrom(...TRANSFER_KINDS),
  status: fc.constantFrom(...TRANSFER_STATUSES),
  flags: count,
  fromCurrencyId: nullable(id),
  toCurrencyId: id,
  viaCurrencyId: nullable(id),
  importCurrencyId: id,
  amountIn: satoshis,
  transferFee: satoshis,
  transferFeeCurrencyId: id,
  conversionFee: satoshis,
  amountOut: nullable(satoshis),
  destination: nullable(text),
  source: nullable(id),
  destinationSystemId: nullable(id),
  importSystemId: nullable(id),
  sourceSystemId: nullable(id),
  requestHeight: count,
  requestTime: seconds,
  exportTxid: nullable(id),
  exportVout: nullable(count),
  exportIndex: nullable(count),
  exportHeight: nullable(count),
  importTxid: nullable(id),
  importHeight: nullable(count),
  importTime: nullable(seconds),
  payoutVout: nullable(count),
  reason: nullable(text),
});

export const publishedFact: fc.Arbitrary<Fact> = fc.oneof(
  block,
  transaction,
  activity,
  identity,
  currency,
  currencyState,
  transfer,
  reserveSnapshot,
);

const rewind = { kind: fc.constant('rewind' as const), position: count, height: count, hash: id, fromHeight: count };

export const blocksRecord: fc.Arbitrary<BlocksRecord> = fc.oneof(
  record<BlocksRecord & { kind: 'block' }>({
    kind: fc.constant('block'),
    position: fc.nat({ max: Number.MAX_SAFE_INTEGER - 1 }), // the largest that avsc writes as a number
    height: count,
    hash: id,
    previousHash: nullable(id),
    time: seconds,
    block: fc.uint8Array({ maxLength: 300 }),
  }),
  record<BlocksRecord & { kind: 'rewind' }>(rewind),
);

export const factsRecord: fc.Arbitrary<FactsRecord> = fc.oneof(
  record<FactsRecord & { kind: 'facts' }>({
    kind: fc.constant('facts'),
    position: count,
    source: count,
    height: count,
    hash: id,
    facts: fc.array(publishedFact, { maxLength: 12 }),
  }),
  record<FactsRecord & { kind: 'rewind' }>({ ...rewind, source: count }),
);
