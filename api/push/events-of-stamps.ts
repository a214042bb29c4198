/** Converts a record of topic `stamps` to events: always the same events in the same order, so that places among them stay valid. */
import { stringifyExact } from '../../domain/json/exact-json.ts';
import { NO_DELIVERY } from '../../domain/stamps.ts';
import type {
  PriceChange,
  StampedConversion,
  StampList,
  StampsAppended,
  StampsCorrected,
  StampsRecord,
} from '../../schemas/log-records.ts';
import { parseUsd } from '../http/usd.ts';
import { decimal, decimalOrNull } from '../http/values.ts';
import { conversionMembers, conversionSubjects } from './conversion-event.ts';
import { type PushEvent, pushEvent, type UnplacedEvent } from './push-event.ts';
import { undoEvent } from './undo-event.ts';

export function eventsOfStamps(chain: string, record: StampsRecord): PushEvent[] {
  const sources = sourcesOf(record);
  return sources.map((source, index) =>
    pushEvent({ chain, topic: 'stamps', place: { position: record.position, index }, ...source }),
  );
}

function sourcesOf(record: StampsRecord): UnplacedEvent[] {
  switch (record.kind) {
    case 'rewind':
      return [undoEvent(record, { reason: record.reason, of: 'prices' })];
    case 'correction':
      return corrections(record);
    case 'stamps':
      return rowsOf(record, record).map(({ source }) => source);
  }
}

export interface CorrectedConversion {
  readonly txid: string;
  readonly vout: number;
  /** The conversion as it is sent from now on; null if it no longer has a stamp. */
  readonly now: PushEvent | null;
}

/** Conversions of a correction whose stamps differ in more than `provisional`. */
export function correctedConversions(chain: string, record: StampsCorrected): CorrectedConversion[] {
  const { position } = record;
  const block = { ...record, provisional: false };
  const textOf = (stamp: StampedConversion) => valuedSource({ ...stamp, provisional: false }, block).data();
  return pairsByKey(record.was.stamps, record.now.stamps, stampKey).flatMap(({ was, now }, index) => {
    const either = now ?? was;
    if (!either || (was && now && textOf(was) === textOf(now))) return [];
    const { txid, vout } = either;
    const place = { chain, topic: 'stamps', place: { position, index } } as const;
    return [{ txid, vout, now: now ? pushEvent({ ...place, ...valuedSource(now, record) }) : null }];
  });
}

interface Pair<Row> {
  readonly was: Row | undefined;
  readonly now: Row | undefined;
}

/** Pairs former and current rows by key: first each row of `now`, in order, then the rows that are gone. */
function pairsByKey<Row>(was: readonly Row[], now: readonly Row[], keyOf: (row: Row) => string): Pair<Row>[] {
  const former = new Map(was.map((row) => [keyOf(row), row]));
  const current = now.map((row) => {
    const pair = { was: former.get(keyOf(row)), now: row };
    former.delete(keyOf(row));
    return pair;
  });
  return [...current, ...[...former.values()].map((row) => ({ was: row, now: undefined }))];
}

const stampKey = ({ txid, vout }: StampedConversion): string => `${txid}:${vout}`;

type Block = Pick<StampsAppended, 'height' | 'time' | 'provisional'>;

interface Row {
  /** Identifies the row among those of its block. */
  readonly key: string;
  readonly source: UnplacedEvent;
}

function rowsOf({ prices, stamps }: StampList, block: Block): Row[] {
  return [
    ...prices.map((price) => ({ key: price.currencyId, source: priceSource(price, block) })),
    ...stamps.map((stamp) => ({ key: stampKey(stamp), source: valuedSource(stamp, block) })),
  ];
}

/** One event for each row that differs, is new, or is gone. */
function corrections({ height, time, was, wasProvisional, now, provisional }: StampsCorrected): UnplacedEvent[] {
  const former = rowsOf(was, { height, time, provisional: wasProvisional });
  const current = rowsOf(now, { height, time, provisional });
  return pairsByKey(former, current, ({ key }) => key)
    .map((pair) => correction(pair.was?.source, pair.now?.source))
    .filter((source) => source !== null);
}

/** Returns null if the row is unchanged. */
function correction(was: UnplacedEvent | undefined, now: UnplacedEvent | undefined): UnplacedEvent | null {
  const texts = { was: was?.data() ?? 'null', now: now?.data() ?? 'null' };
  const either = now ?? was;
  if (!either || texts.was === texts.now) return null;
  return {
    channel: either.channel,
    type: `${either.type}_correction`,
    subjects: either.subjects ?? {},
    ...(now && was?.subjects && { formerSubjects: was.subjects }),
    data: () => `{"was":${texts.was},"now":${texts.now}}`,
  };
}

export function priceSource(price: PriceChange, { height, time, provisional }: Block): UnplacedEvent {
  const { currencyId, tier, usdPrice, emaPrice, totalDepth, sourceBasketId } = price;
  return {
    channel: 'prices',
    type: 'price',
    subjects: { currencies: [currencyId], basket: sourceBasketId },
    data: () =>
      stringifyExact({
        currencyId,
        height,
        time,
        usdPrice: decimal(usdPrice),
        emaPrice: decimal(emaPrice),
        totalDepth: decimal(totalDepth),
        tier,
        sourceBasketId,
        provisional,
      }),
  };
}

/** A conversion with its stamp: for subscribers with `minUsd`, and for all others if it counts as refunded. */
function valuedSource(stamp: StampedConversion, block: Block): UnplacedEvent {
  const { regime, rule, reason, pricedCurrencyId, priceBasketId, diverged } = stamp;
  return {
    channel: 'conversions',
    type: 'conversion',
    subjects: {
      ...conversionSubjects(stamp),
      usdValue: stamp.usdValue === null ? null : parseUsd(stamp.usdValue),
      isCorrection: reason === NO_DELIVERY,
    },
    data: () =>
      stringifyExact({
        ...conversionMembers(stamp),
        fromUsd: decimalOrNull(stamp.fromUsd),
        toUsd: decimalOrNull(stamp.toUsd),
        usdValue: decimalOrNull(stamp.usdValue),
        rule,
        reason,
        pricedCurrencyId,
        pricedCurrencyUsd: decimalOrNull(stamp.pricedCurrencyUsd),
        priceBasketId,
        diverged,
        regime,
        provisional: stamp.provisional || block.provisional,
      }),
  };
}
