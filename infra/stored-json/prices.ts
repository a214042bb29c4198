/** The entries of a price, and a price that is published instead of the derived one, as the stores keep them. */
import { PRICE_TIERS } from '../../domain/prices.ts';
import { columns, jsonReader } from '../row-reader.ts';

const { choice, list, nullable, number, object, text } = columns;

const ENTRIES = list(object({ basketId: text, chain: text, price: text, depth: text }));
/** Deepest first. */
export const readPriceEntries = jsonReader(ENTRIES);

/** Decimals are stored as text. */
export const readPublishedPrice = jsonReader(
  object({
    tier: choice(PRICE_TIERS),
    usdPrice: text,
    emaPrice: text,
    totalDepth: text,
    sourceBasket: nullable(text),
    baskets: ENTRIES,
    height: number,
    time: number,
  }),
);
