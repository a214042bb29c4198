/** /api/market/pairs/:basket/:base/:quote/candles and /api/market/prices/:name/candles */
import type { LosslessNumber } from 'lossless-json';
import { formatPrice } from '../../../domain/decimal.ts';
import { parseReserves } from '../../../domain/reserves.ts';
import { ApiError, parameterError } from '../../http/api-error.ts';
import { chainParameter, formatParameter, pathParameter } from '../../http/parameters.ts';
import { stateRoute } from '../../http/route.ts';
import { printUsd } from '../../http/usd.ts';
import { coins, decimal, isoTime, ratio } from '../../http/values.ts';
import { writtenName } from '../../schema/json-schema.ts';
import { findBasket, findCurrency } from '../../state/find-currency.ts';
import { marksIn } from '../../state/marks.ts';
import { pricedRows, provisionalMembers } from '../../state/priced-rows.ts';
import type { Snapshot } from '../../state/snapshot.ts';
import { defaultChain } from '../prices/price-rows.ts';
import { currencyCandles, pairCandles, type StepCandle } from './candle-rows.ts';
import { currencyCandleSeries, pairCandleSeries } from './candle-schema.ts';
import { RESERVES_SQL, readReserves } from './reserve-points.ts';
import { type Step, type StepWindow, stepParameters, stepWindow } from './steps.ts';

/** @throws ApiError unless each currency is the basket itself or one of its reserves, and the two differ */
async function checkPair(read: Snapshot, chain: string, basket: string, pair: readonly string[]): Promise<void> {
  const [base, quote] = pair;
  const state = await read.row(readReserves, RESERVES_SQL, [chain, basket]);
  const ids = [basket, ...parseReserves(state?.reserves ?? '[]').map(({ currencyId }) => currencyId)];
  const other = pair.find((id) => !ids.includes(id));
  if (other) throw new ApiError('not_found', `basket ${basket} does not hold ${other}`);
  if (base !== quote) return;
  throw parameterError('quote', 'base and quote are the same currency');
}

const covered = (step: Step, { from, until }: StepWindow) => ({ step, from: isoTime(from), to: isoTime(until) });
const traded = ({ volumeUsd, trades }: StepCandle<unknown>) => ({ volumeUsd: printUsd(volumeUsd), trades });
const ends = <Price>({ time, open, high, low, close }: StepCandle<Price>, print: (price: Price) => LosslessNumber) => ({
  time,
  open: print(open),
  high: print(high),
  low: print(low),
  close: print(close),
});
const pairSide = (description: string) => pathParameter(`${description}: name or i-address`, writtenName);

const ofPair = stateRoute({
  path: '/api/market/pairs/:basket/:base/:quote/candles',
  summary: 'Candles of the price of one currency of a basket in another one, with the traded volume',
  parameters: {
    basket: pairSide('Basket'),
    base: pairSide('The basket itself or one of its reserves'),
    quote: pairSide('Currency of the price: the basket itself or another of its reserves'),
    chain: chainParameter,
    ...stepParameters,
    ...formatParameter,
  },
  response: pairCandleSeries,
  rows: { member: 'data' },
  weight: 2,
  cache: 'state',
  scope: 'all',
  async handler({ params, read, api }) {
    const currencies = await api.currencies.of(read);
    const basket = findBasket(currencies, api, params.chain, params.basket, 'basket');
    const { chain, currencyId: basketId } = basket;
    const { currencyId: base } = findCurrency(currencies, api, chain, params.base, 'base');
    const { currencyId: quote } = findCurrency(currencies, api, chain, params.quote, 'quote');
    await checkPair(read, chain, basketId, [base, quote]);
    const window = stepWindow(params, read.state.derived.get(chain)?.clock ?? 0);
    const rows = await pricedRows(read, api);
    const candles = await pairCandles(read, api, rows, { chain, basket: basketId, base, quote }, window);
    return {
      basket: basket.fullyQualifiedName,
      basketId,
      chain,
      base: currencies.name(base),
      baseId: base,
      quote: currencies.name(quote),
      quoteId: quote,
      ...covered(params.step, window),
      ...provisionalMembers(rows.provisionalSince(window.until - 1, chain)),
      marks: marksIn(api, window.from, window.until, chain),
      data: candles.map((candle) => ({
        ...ends(candle, ({ over, under }) => ratio(over, under)),
        volumeBase: coins(candle.volumes[0]),
        volumeQuote: coins(candle.volumes[1]),
        ...traded(candle),
      })),
    };
  },
});

const ofCurrency = stateRoute({
  path: '/api/market/prices/:name/candles',
  summary: 'Candles of the USD price of a currency, with the traded volume',
  parameters: {
    name: pathParameter('Currency: name or i-address', writtenName),
    ...stepParameters,
    ...formatParameter,
  },
  response: currencyCandleSeries,
  rows: { member: 'data' },
  weight: 2,
  cache: 'state',
  scope: 'all',
  async handler({ params, read, api }) {
    const currencies = await api.currencies.of(read);
    const currency = findCurrency(currencies, api, defaultChain(api), params.name, 'name');
    const newest = Math.max(0, ...[...read.state.derived.values()].map(({ clock }) => clock));
    const window = stepWindow(params, newest);
    const rows = await pricedRows(read, api);
    const candles = await currencyCandles(read, api, rows, currency.currencyId, window);
    return {
      currencyId: currency.currencyId,
      name: currency.fullyQualifiedName,
      ...covered(params.step, window),
      ...provisionalMembers(rows.provisionalSince(window.until - 1)),
      marks: marksIn(api, window.from, window.until),
      data: candles.map((candle) => ({
        ...ends(candle, (price) => decimal(formatPrice(price))),
        volume: coins(candle.volumes[0]),
        ...traded(candle),
      })),
    };
  },
});

export const candleRoutes = [ofPair, ofCurrency];
