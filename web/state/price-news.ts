/** The newest price of each currency from the stream; a correction replaces the price that it corrects. */
import type { StreamEvent } from '../../client/stream/stream.ts';

type EventOf<Type extends StreamEvent['type']> = Extract<StreamEvent, { type: Type }>;
/** An `undo` of blocks reverts their prices too. */
export type PriceEvent = EventOf<'price' | 'price_correction' | 'undo'>;

export interface PriceNews {
  readonly type: 'price' | 'price_correction';
  readonly chain: string;
  readonly cursor: string;
  /** The price row; for a correction, the new row. */
  readonly data: EventOf<'price'>['data'];
}

/** Applies events in order; `news` and the result are newest first. */
export function withEvents(news: readonly PriceNews[], events: readonly PriceEvent[], most: number) {
  let all = news;
  for (const event of events) all = withEvent(all, event);
  const seen = new Set<string>();
  const isFirst = ({ data }: PriceNews) => !seen.has(data.currencyId) && seen.add(data.currencyId);
  return all.filter(isFirst).slice(0, most);
}

function withEvent(news: readonly PriceNews[], event: PriceEvent): readonly PriceNews[] {
  switch (event.type) {
    case 'price':
      return [event, ...news];
    case 'price_correction':
      return corrected(news, event);
    case 'undo':
      return news.filter(({ chain, data }) => chain !== event.chain || data.height <= event.data.toHeight);
  }
}

function corrected(news: readonly PriceNews[], correction: EventOf<'price_correction'>): readonly PriceNews[] {
  const { type, chain, cursor, data } = correction;
  const row = data.now ?? data.was;
  const isIt = (price: PriceNews) =>
    price.chain === chain && price.data.currencyId === row?.currencyId && price.data.height === row.height;
  return news.flatMap((price) => {
    if (!isIt(price)) return [price];
    return data.now === null ? [] : [{ type, chain, cursor, data: data.now }];
  });
}
