/** A record of the `stamps` topic → its events, always the same ones in the same order, so that a place in them lasts. */
import { stringifyExact } from '../../domain/json/exact-json.ts';
import type { UnpricedReason } from '../../domain/stamps.ts';
import type { StampsAppended, StampsRecord, StampsRewound, ToldPrice, ToldStamp } from '../../schemas/log-records.ts';
import { decimal, decimalOrNull } from '../http/values.ts';
import { parseUsd } from '../rest/prices/usd.ts';
import { conversionMembers, conversionSubjects } from './conversion-event.ts';
import { type EventSource, type PushEvent, pushEvent } from './push-event.ts';

type Source = Omit<EventSource, 'chain' | 'topic' | 'place'>;

/** The chain says `unmatched` of these. */
const NO_DELIVERY: UnpricedReason = 'no_delivery';

export function eventsOfStamps(chain: string, record: StampsRecord): PushEvent[] {
  const sources = record.kind === 'rewind' ? [undo(record)] : appended(record);
  return sources.map((source, index) =>
    pushEvent({ chain, topic: 'stamps', place: { position: record.position, index }, ...source }),
  );
}

function undo({ fromHeight, height: toHeight, hash, reason }: StampsRewound): Source {
  return {
    channel: 'undo',
    type: 'undo',
    data: () => JSON.stringify({ fromHeight, toHeight, hash, reason, of: 'prices' }),
  };
}

function appended(record: StampsAppended): Source[] {
  return [
    ...record.prices.map((price) => priceSource(price, record)),
    ...record.stamps.map((stamp) => valuedSource(stamp, record)),
  ];
}

function priceSource(price: ToldPrice, { height, time, provisional }: StampsAppended): Source {
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

/** A conversion again, with its stamp: for subscribers by value, and for all others where it counts as refunded. */
function valuedSource(stamp: ToldStamp, record: StampsAppended): Source {
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
        provisional: stamp.provisional || record.provisional,
      }),
  };
}
