/** Converts a waiting transaction to its JSON form in REST and the stream, and to the subjects that filters match. */
import { getOrInsert } from '../../domain/get-or-insert.ts';
import { stringifyExact } from '../../domain/json/exact-json.ts';
import type { ConversionType } from '../../domain/transfers.ts';
import type { IdentityFact, TransferFact } from '../../schemas/facts.ts';
import type { UnconfirmedOutcome, UnconfirmedTransaction } from '../../schemas/mempool.ts';
import { coins, coinsOrNull, ratio } from '../http/values.ts';
import { movedAmounts, movedCurrencies } from '../push/events-of-record.ts';
import type { EventSubjects } from '../push/push-event.ts';
import { readChanges } from '../state/identity-changes.ts';
import type { WaitingTransaction } from './journal.ts';
import { MOST_CHANGES_TEXT, MOST_PARTS } from './transaction-schema.ts';

export type UnconfirmedConversion = TransferFact & { readonly kind: ConversionType };

export function conversionsOf({ transfers }: UnconfirmedTransaction): readonly UnconfirmedConversion[] {
  return transfers.filter((transfer): transfer is UnconfirmedConversion => transfer.kind !== 'send');
}

export function feeRate({ fee, size }: UnconfirmedTransaction) {
  return fee === null || fee < 0n ? null : ratio(fee, BigInt(size));
}

export function conversionAnswer(transfer: UnconfirmedConversion) {
  return {
    vout: transfer.vout,
    type: transfer.kind,
    fromCurrencyId: transfer.fromCurrencyId,
    toCurrencyId: transfer.toCurrencyId,
    viaCurrencyId: transfer.viaCurrencyId,
    basketId: transfer.importCurrencyId,
    amountIn: coins(transfer.amountIn),
    fee: coins(transfer.conversionFee),
    source: transfer.source,
    destination: transfer.destination,
  };
}

const texts = new WeakMap<WaitingTransaction, string>();

/** JSON text of transactionAnswer(); cached, since many clients receive it. */
export function transactionText(waiting: WaitingTransaction): string {
  let text = texts.get(waiting);
  if (text === undefined) {
    text = stringifyExact(transactionAnswer(waiting));
    texts.set(waiting, text);
  }
  return text;
}

export function transactionAnswer({ transaction, seenAt }: WaitingTransaction) {
  const { txid, kind, kinds, fee, size, expiryHeight, identities, activity } = transaction;
  const conversions = conversionsOf(transaction);
  return {
    txid,
    seenAt,
    type: kind,
    types: kinds,
    fee: coinsOrNull(fee),
    size,
    feeRate: feeRate(transaction),
    expiryHeight,
    conversionCount: conversions.length,
    conversions: conversions.slice(0, MOST_PARTS).map(conversionAnswer),
    identityCount: identities.length,
    identities: identities.slice(0, MOST_PARTS).map(identityAnswer),
    addressCount: activity.length,
    addresses: activity.slice(0, MOST_PARTS).map((fact) => ({ address: fact.address, ...movedAmounts(fact) })),
  };
}

export function identityAnswer({ identityAddress, name, fullyQualifiedName, kind, flags, changes }: IdentityFact) {
  const shown = changes.length > MOST_CHANGES_TEXT ? null : readChanges(changes);
  return { identityAddress, name, fullyQualifiedName, kind, flags, changes: shown };
}

/** Members that report why a transaction left the mempool; null if the reason has no such member. */
export function outcomeAnswer(outcome: UnconfirmedOutcome) {
  const { reason } = outcome;
  return {
    reason,
    byTxid: 'txid' in outcome ? outcome.txid : null,
    height: 'height' in outcome ? outcome.height : null,
    hash: 'hash' in outcome ? outcome.hash : null,
  };
}

const subjects = new WeakMap<UnconfirmedTransaction, readonly EventSubjects[]>();

/** Subjects of the whole transaction, of each conversion and of each identity: a filter matches if any one of them matches. */
export function subjectsOf(transaction: UnconfirmedTransaction, nativeCurrencyId: string): readonly EventSubjects[] {
  return getOrInsert(subjects, transaction, () => allSubjects(transaction, nativeCurrencyId));
}

function allSubjects(transaction: UnconfirmedTransaction, nativeCurrencyId: string): EventSubjects[] {
  const { activity, identities } = transaction;
  const moved = new Set(activity.flatMap((fact) => movedCurrencies(fact, nativeCurrencyId)));
  return [
    { addresses: activity.map(({ address }) => address), currencies: [...moved], basket: null, identity: null },
    ...conversionsOf(transaction).map((transfer) => conversionPart(transfer)),
    ...identities.map(({ identityAddress: identity, primaryAddresses }) => {
      return { identity, addresses: primaryAddresses, currencies: [], basket: null };
    }),
  ];
}

export function conversionPart(transfer: TransferFact): EventSubjects {
  const { fromCurrencyId, toCurrencyId, viaCurrencyId, importCurrencyId, source, destination } = transfer;
  return {
    currencies: [fromCurrencyId, toCurrencyId, viaCurrencyId, importCurrencyId].filter((id) => id !== null),
    basket: importCurrencyId,
    addresses: [source, destination].filter((address) => address !== null),
    identity: null,
  };
}
