/** The inputs of a stamp, as both stores keep them. */
import type { StampInputs } from '../../domain/stamp-inputs.ts';
import { columns, jsonReader, type ReadColumn } from '../row-reader.ts';

const { boolean, choice, either, list, nullable, number, object, record, text } = columns;

const SIDE = object(
  {
    currencyId: text,
    amount: text,
    usd: nullable(text),
    priceBasket: nullable(text),
    isAnchor: boolean,
    isNative: boolean,
    isBasket: boolean,
  },
  { limits: object({}, { min: text, max: text }) },
);
const ENTRY = object({ chain: text, basketId: text, price: text, depth: text, hop: nullable(text) });
const PRICE = object({
  currencyId: text,
  tier: either(number, choice(['nav'])),
  usd: text,
  totalDepth: text,
  sourceBasket: nullable(text),
  entries: list(ENTRY),
});
const BASKET = object({
  chain: text,
  basketId: text,
  height: number,
  supply: text,
  reserves: list(object({ currencyId: text, reserves: text, weight: text })),
});
const NO_DELIVERY = object({
  chain: text,
  basketId: text,
  fromCurrencyId: text,
  toCurrencyId: text,
  amountIn: text,
  expectedOut: text,
});
const STAMP: ReadColumn<StampInputs> = object(
  { from: nullable(SIDE), to: nullable(SIDE), prices: list(PRICE), baskets: list(BASKET), anchors: list(text) },
  { bounds: record(object({ median: text, days: number })), noDelivery: NO_DELIVERY },
);
export const readStampInputs = jsonReader(STAMP);
