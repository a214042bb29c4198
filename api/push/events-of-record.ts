/** Converts a record of topic `facts` to events: always the same events in the same order, so that places among them stay valid. */
import { finalizedHeight } from '../../domain/finality.ts';
import { stringifyExact } from '../../domain/json/exact-json.ts';
import type { ChainConfig } from '../../schemas/config.ts';
import type {
  ActivityFact,
  BlockFact,
  CurrencyStateFact,
  Fact,
  IdentityFact,
  TransactionFact,
} from '../../schemas/facts.ts';
import type { FactsAppended, FactsRecord, TransferSummary } from '../../schemas/log-records.ts';
import { nativeCurrencyId } from '../../schemas/native-currency-id.ts';
import { coins, coinsOrNull, decimal } from '../http/values.ts';
import { conversionMembers, conversionSubjects } from './conversion-event.ts';
import { type PushEvent, pushEvent, type UnplacedEvent } from './push-event.ts';
import { undoEvent } from './undo-event.ts';

/** Data of the chain that its events contain. */
export interface EventChain extends Pick<ChainConfig, 'name' | 'finalityDepth'> {
  readonly nativeCurrencyId: string;
}

export function eventChain(chain: ChainConfig): EventChain {
  const { name, finalityDepth } = chain;
  return { name, finalityDepth, nativeCurrencyId: nativeCurrencyId(chain) };
}

export function eventsOfRecord(of: EventChain, record: FactsRecord): PushEvent[] {
  const { name: chain } = of;
  const sources = record.kind === 'rewind' ? [undoEvent(record, { reason: 'reorg' })] : factSources(record, of);
  return sources.map((source, index) =>
    pushEvent({ chain, topic: 'facts', place: { position: record.position, index }, ...source }),
  );
}

/** The published part of a basket's state. */
export type PublishedReserves = Pick<CurrencyStateFact, 'currencyId' | 'txid' | 'flags' | 'supply' | 'reserves'>;

/** Context of a fact: members of its block. */
interface Around {
  readonly height: number;
  readonly of: EventChain;
  readonly time: number;
  /** Addresses that each transaction touched. */
  readonly touched: ReadonlyMap<string, readonly string[]>;
}

function factSources({ height, facts }: FactsAppended, of: EventChain): UnplacedEvent[] {
  const block = facts.find((fact) => fact.type === 'block');
  const around = { height, of, time: block?.time ?? 0, touched: touchedAddresses(facts) };
  return facts.flatMap((fact) => sourceOf(fact, around) ?? []);
}

function touchedAddresses(facts: readonly Fact[]): Map<string, string[]> {
  const touched = new Map<string, string[]>();
  for (const fact of facts) {
    if (fact.type !== 'activity') continue;
    const addresses = touched.get(fact.txid);
    if (addresses) addresses.push(fact.address);
    else touched.set(fact.txid, [fact.address]);
  }
  return touched;
}

function sourceOf(fact: Fact, around: Around): UnplacedEvent | null {
  switch (fact.type) {
    case 'block':
      return blockSource(fact, around);
    case 'transaction':
      return transactionSource(fact, around);
    case 'activity':
      return activitySource(fact, around);
    case 'identity':
      return identitySource(fact, around);
    case 'transfer':
      return fact.kind === 'send' ? null : conversionSource(fact);
    case 'currency_state':
      return fact.reserves.length === 0 ? null : reservesSource(fact, around);
    default:
      return null;
  }
}

function blockSource(fact: BlockFact, { height, of }: Around): UnplacedEvent {
  const { hash, previousHash, time, txCount, size, validationType } = fact;
  const data = { height, hash, previousHash, time, txCount, size, validationType };
  return {
    channel: 'blocks',
    type: 'block',
    data: () =>
      stringifyExact({
        ...data,
        difficulty: decimal(fact.difficulty),
        finalizedHeight: finalizedHeight(height, of.finalityDepth),
      }),
  };
}

function transactionSource({ txid, kind, kinds, fee, size }: TransactionFact, around: Around): UnplacedEvent {
  const { height, time } = around;
  return {
    channel: 'txs',
    type: 'tx',
    subjects: { addresses: around.touched.get(txid) ?? [] },
    data: () => stringifyExact({ txid, height, time, type: kind, types: kinds, fee: coinsOrNull(fee), size }),
  };
}

function activitySource(fact: ActivityFact, around: Around): UnplacedEvent {
  const { address, txid } = fact;
  const { height, time } = around;
  return {
    channel: 'addresses',
    type: 'address',
    subjects: { addresses: [address], currencies: movedCurrencies(fact, around.of.nativeCurrencyId) },
    data: () =>
      stringifyExact({
        address,
        txid,
        height,
        time,
        ...movedAmounts(fact),
      }),
  };
}

/** Amounts of the chain's own currency, and the net amounts of the others. */
export function movedAmounts({ received, sent, currencies }: ActivityFact) {
  return {
    received: coins(received),
    sent: coins(sent),
    net: coins(received - sent),
    currencies: Object.entries(currencies).map(([currencyId, flow]) => {
      return { currencyId, amount: coins(flow.received - flow.sent) };
    }),
  };
}

/** Ids of all currencies that moved, including the chain's own. */
export function movedCurrencies({ received, sent, currencies }: ActivityFact, nativeCurrencyId: string): string[] {
  const others = Object.keys(currencies);
  return received > 0n || sent > 0n ? [nativeCurrencyId, ...others] : others;
}

function identitySource(fact: IdentityFact, { height, time }: Around): UnplacedEvent {
  const { identityAddress, name, fullyQualifiedName, txid, kind, flags, changes } = fact;
  const data = { identityAddress, name, fullyQualifiedName, height, time, txid, kind, flags };
  return {
    channel: 'identities',
    type: 'identity',
    subjects: { identity: identityAddress, addresses: fact.primaryAddresses },
    // The changes are kept as JSON text, numbers as the daemon printed them.
    data: () => `${JSON.stringify(data).slice(0, -1)},"changes":${changes}}`,
  };
}

export function conversionSource(fact: TransferSummary): UnplacedEvent {
  return {
    channel: 'conversions',
    type: 'conversion',
    subjects: conversionSubjects(fact),
    data: () => stringifyExact(conversionMembers(fact)),
  };
}

export function reservesSource(
  { currencyId, txid, flags, supply, reserves }: PublishedReserves,
  { height, time }: Pick<Around, 'height' | 'time'>,
): UnplacedEvent {
  return {
    channel: 'reserves',
    type: 'reserves',
    subjects: { basket: currencyId, currencies: [currencyId, ...reserves.map((reserve) => reserve.currencyId)] },
    data: () =>
      stringifyExact({
        currencyId,
        txid,
        height,
        time,
        flags,
        supply: coins(supply),
        reserves: reserves.map((reserve) => ({
          currencyId: reserve.currencyId,
          weight: coins(reserve.weight),
          reserve: coins(reserve.reserves),
          priceInReserve: coins(reserve.priceInReserve),
        })),
      }),
  };
}
