/** /api/market/pairs/volume: daily volume between each two currencies of each basket. */
import { descending } from '../../../domain/order.ts';
import { parseReserves } from '../../../domain/reserves.ts';
import { SECONDS_PER_DAY, utcDate } from '../../../domain/time.ts';
import { storedColumns } from '../../../infra/postgres/stored-columns.ts';
import { columns, rowReader } from '../../../infra/row-reader.ts';
import { DEFINITIONS } from '../../../schemas/facts.ts';
import type { ApiContext } from '../../api-context.ts';
import { parameterError } from '../../http/api-error.ts';
import { anyChainParameter, formatParameter, queryParameter } from '../../http/parameters.ts';
import { stateRoute } from '../../http/route.ts';
import { feesOf, printUsd } from '../../http/usd.ts';
import { coins } from '../../http/values.ts';
import { VOLUME_FEES } from '../../schema/fees.ts';
import {
  array,
  coins as coinsSchema,
  integer,
  isoDate,
  nullableString,
  object,
  string,
  usd,
  writtenName,
} from '../../schema/json-schema.ts';
import { findBasket } from '../../state/find-currency.ts';
import { inTurns } from '../../state/in-turns.ts';
import { PROVISIONAL_SINCE, pricedRows, provisionalList } from '../../state/priced-rows.ts';
import type { Snapshot } from '../../state/snapshot.ts';
import { defaultChain } from '../prices/price-rows.ts';
import { pairOf } from './pairs.ts';
import { readTrades, type SideVolume } from './trades.ts';
import { periods } from './volume-series.ts';

/** Most days without a basket, to bound the number of rows; a request for one basket may span MOST_DAYS. */
const MOST_DAYS_OF_ALL = 31;
const MOST_DAYS = 3650;

const pairVolumes = array(
  object({
    date: { ...isoDate, description: 'UTC day of the imports' },
    basket: nullableString,
    basketId: string,
    chain: nullableString,
    base: nullableString,
    baseId: string,
    quote: nullableString,
    quoteId: string,
    volumeBase: { ...coinsSchema, description: 'Sum over the conversions between the two, in either direction' },
    volumeQuote: coinsSchema,
    volumeUsd: { ...usd, description: 'Sum over the conversions that have a value' },
    trades: integer,
    fees: { ...usd, description: VOLUME_FEES },
  }),
  'Oldest day first, within a day the largest volume first; a pair without trades on a day has no row',
);

const readReserves = rowReader({
  chain: columns.text,
  ...storedColumns(DEFINITIONS.currency_state, ['currencyId', 'reserves']),
});
/** The newest state is enough: a basket never changes its reserve currencies. */
const RESERVES_SQL =
  'SELECT chain, currency_id, reserves FROM currency_states WHERE to_height IS NULL AND currency_id = ANY($1)';

type DaySide = SideVolume & { readonly day: number };

interface PairDay {
  readonly day: number;
  readonly basketId: string;
  readonly base: string;
  readonly quote: string;
  volumeBase: bigint;
  volumeQuote: bigint;
  volumeUsd: bigint;
  trades: number;
}

/** Sums both directions of a pair, with base and quote as in /api/market/pairs. */
async function pairDays(read: Snapshot, api: ApiContext, sides: readonly DaySide[]): Promise<PairDay[]> {
  const ids = [...new Set(sides.map(({ basketId }) => basketId))];
  const states = await read.rows(readReserves, RESERVES_SQL, [ids]);
  const placesOf = new Map(
    states.map((state) => {
      const held = parseReserves(state.reserves).map(({ currencyId }) => currencyId);
      return [state.currency_id, new Map([state.currency_id, ...held].map((id, place) => [id, place]))] as const;
    }),
  );
  const found = new Map<string, PairDay>();
  await inTurns(sides, ({ day, basketId, fromId, toId, amountIn, amountOut, volume, trades }) => {
    const place = (id: string) => placesOf.get(basketId)?.get(id) ?? Number.POSITIVE_INFINITY;
    const [a, b] = place(fromId) <= place(toId) ? [fromId, toId] : [toId, fromId];
    const { base, quote } = pairOf(api, basketId, a, b);
    const key = `${day} ${basketId} ${base} ${quote}`;
    const sum = found.get(key) ?? {
      day,
      basketId,
      base,
      quote,
      volumeBase: 0n,
      volumeQuote: 0n,
      volumeUsd: 0n,
      trades: 0,
    };
    const sells = fromId === base;
    sum.volumeBase += sells ? amountIn : amountOut;
    sum.volumeQuote += sells ? amountOut : amountIn;
    sum.volumeUsd += volume;
    sum.trades += trades;
    found.set(key, sum);
  });
  const byVolume = (a: PairDay, b: PairDay) => descending(a.volumeUsd, b.volumeUsd);
  const name = ({ basketId, base, quote }: PairDay) => `${basketId} ${base} ${quote}`;
  return [...found.values()].sort((a, b) => a.day - b.day || byVolume(a, b) || (name(a) < name(b) ? -1 : 1));
}

const volume = stateRoute({
  path: '/api/market/pairs/volume',
  summary: 'Volume between each two currencies of each basket, by UTC day',
  parameters: {
    basket: queryParameter('Only this basket: name or i-address', writtenName),
    chain: anyChainParameter,
    days: queryParameter(
      'UTC days up to the newest block, of the chain if one is given: at most 31, with a basket 3650',
      {
        type: 'integer',
        minimum: 1,
        maximum: MOST_DAYS,
        default: 30,
      },
    ),
    ...formatParameter,
  },
  response: pairVolumes,
  headers: [PROVISIONAL_SINCE],
  rows: { member: null },
  weight: 2,
  cache: 'state',
  scope: 'all',
  async handler({ params, read, api }) {
    const { days } = params;
    if (params.basket === undefined && days > MOST_DAYS_OF_ALL) {
      throw parameterError('days', `days is at most ${MOST_DAYS_OF_ALL} without basket`);
    }
    const currencies = await api.currencies.of(read);
    const home = params.chain ?? defaultChain(api);
    const basket = params.basket === undefined ? null : findBasket(currencies, api, home, params.basket, 'basket');
    const chain = basket?.chain ?? params.chain;
    const rows = await pricedRows(read, api);
    const trades = await readTrades(read, api, rows);
    const end = chain === undefined ? trades.end : (trades.ends.get(chain) ?? 0);
    const since = (periods('day', end, days)[0] ?? 0) - 1;
    const sides = await trades.bySidesAndDay(since, basket?.currencyId ?? null);
    const isShown = ({ basketId }: DaySide) => chain === undefined || currencies.get(basketId)?.chain === chain;
    const found = await pairDays(read, api, sides.filter(isShown));
    return provisionalList(
      rows.provisionalSince(end, chain),
      await inTurns(found, ({ day, basketId, base, quote, volumeBase, volumeQuote, volumeUsd, trades: count }) => ({
        date: utcDate(day * SECONDS_PER_DAY),
        basket: currencies.name(basketId),
        basketId,
        chain: currencies.get(basketId)?.chain ?? null,
        base: currencies.name(base),
        baseId: base,
        quote: currencies.name(quote),
        quoteId: quote,
        volumeBase: coins(volumeBase),
        volumeQuote: coins(volumeQuote),
        volumeUsd: printUsd(volumeUsd),
        trades: count,
        fees: printUsd(feesOf(volumeUsd)),
      })),
    );
  },
});

export const pairVolumeRoutes = [volume];
