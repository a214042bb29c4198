/** The news of prices reflect the stream's events. */
import { describe, expect, it } from 'vitest';
import { type PriceEvent, type PriceNews, withEvents } from './price-news.ts';

type Row = PriceNews['data'];

const MOST = 3;
let sent = 0;

function row(currencyId: string, height: number, usdPrice: number, provisional = true): Row {
  const known = { emaPrice: usdPrice, totalDepth: 1, tier: 1 as const, sourceBasketId: null, time: height };
  return { currencyId, height, usdPrice, provisional, ...known };
}

const place = (chain: string) => {
  sent += 1;
  return { chain, seq: sent, cursor: `cursor ${sent}` };
};
const price = (data: Row, chain = 'a'): PriceEvent => ({ type: 'price', ...place(chain), data });
const correction = (was: Row | null, now: Row | null, chain = 'a'): PriceEvent => ({
  type: 'price_correction',
  ...place(chain),
  data: { was, now },
});
const undo = (toHeight: number, chain = 'a'): PriceEvent => ({
  type: 'undo',
  ...place(chain),
  data: { fromHeight: 100, toHeight, hash: '00', reason: 'reorg', of: 'prices' },
});

const shown = (news: readonly PriceNews[]) => news.map(({ type, data }) => [type, data.currencyId, data.usdPrice]);

describe('the news of prices', () => {
  const first = row('x', 7, 1);
  const news = withEvents([], [price(first), price(row('y', 7, 5)), price(row('x', 8, 2))], MOST);

  it('contain the newest price of each currency, up to the maximum', () => {
    expect(shown(news)).toEqual([
      ['price', 'x', 2],
      ['price', 'y', 5],
    ]);
    const many = ['p', 'q', 'r', 's'].map((id) => price(row(id, 9, 1)));
    expect(withEvents(news, many, MOST)).toHaveLength(MOST);
  });

  it('replace a row with its correction, and take over its mark', () => {
    const event = correction(row('y', 7, 5), row('y', 7, 6, false));
    const corrected = withEvents(news, [event], MOST);
    expect(shown(corrected)).toEqual([
      ['price', 'x', 2],
      ['price_correction', 'y', 6],
    ]);
    expect(corrected[1]).toMatchObject({ cursor: event.cursor, data: { provisional: false } });
  });

  it('do not change when another block or another chain is corrected', () => {
    expect(withEvents(news, [correction(first, row('x', 7, 3))], MOST)).toEqual(news);
    expect(withEvents(news, [correction(row('y', 7, 5), row('y', 7, 6), 'b')], MOST)).toEqual(news);
  });

  it('drop withdrawn prices and prices that a reorganisation reverted', () => {
    expect(shown(withEvents(news, [correction(row('y', 7, 5), null)], MOST))).toEqual([['price', 'x', 2]]);
    expect(shown(withEvents(news, [undo(7)], MOST))).toEqual([['price', 'y', 5]]);
    expect(withEvents(news, [undo(0, 'b')], MOST)).toEqual(news);
  });
});
