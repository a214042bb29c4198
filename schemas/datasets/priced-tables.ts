/** The tables of the data set that hold prices and the USD stamps of conversions. */
import { FIRST_AHEAD_TICK } from '../ahead-runs.ts';
import { CONVERSION_FACT_COLUMNS, CONVERSION_STAMP_COLUMNS } from '../conversion-columns.ts';
import { type DatasetColumn, SATOSHIS } from './column.ts';
import { type GenerationTable, ROW_PLACE } from './table.ts';

const USD = 'USD';

const column = (name: string, type: string, unit: string | null, text: string, sql: string): DatasetColumn => {
  return { name, type, unit, text, sql };
};
const text = (name: string, meaning: string) => column(name, 'String', null, meaning, `toString(${name})`);
const optional = (name: string, meaning: string, from = name) =>
  column(name, 'Nullable(String)', null, meaning, `nullIf(toString(${from}), '')`);
const integer = (name: string, meaning: string) => column(name, 'UInt32', null, meaning, name);
const optionalInteger = (name: string, meaning: string) => column(name, 'Nullable(UInt32)', null, meaning, name);
const satoshis = (name: string, meaning: string) => column(name, 'Int64', SATOSHIS, meaning, name);
/** The stores keep up to 38 decimals of 76 digits, which no engine but ClickHouse reads. */
const usd = (name: string, meaning: string, from = name) =>
  column(name, 'Nullable(Decimal(38, 18))', USD, meaning, `accurateCastOrNull(${from}, 'Decimal(38, 18)')`);

const DIGITS = 'Truncated to 18 decimals; also null if the value is 10^20 or more.';
const PROVISIONAL =
  'Whether the values may still change, because another chain’s clock has not passed the block or the median of a backfill price is not final.';
const GENERATION = integer(
  'generation',
  'Generation of the prices; `verustream reprocess` builds and swaps generations.',
);

const PRICES: GenerationTable = {
  store: 'prices',
  name: 'prices',
  table: 'prices',
  height: 'height',
  stored: [
    'generation',
    'currency_id',
    'tick',
    'chain',
    'height',
    'time',
    'tier',
    'usd_price',
    'ema_price',
    'total_depth',
    'source_basket',
    'baskets',
  ],
  summary:
    'USD prices of currencies. Each block of the first configured chain has the prices of all currencies; blocks of the other chains have the prices that changed.',
  final: 'When its day is closed: no rewind of any chain can reach the day, and none of its prices is provisional.',
  columns: [
    { ...ROW_PLACE.chain, text: 'Chain of the block.' },
    ROW_PLACE.height,
    ROW_PLACE.time,
    GENERATION,
    text('currency_id', 'Currency.'),
    integer('tier', 'Tier of the price: see [prices](prices.md).'),
    usd('usd_price', `Price of one coin. ${DIGITS}`),
    usd('ema_price', `Exponential moving average of the price. ${DIGITS}`),
    usd('total_depth', `Depth of the baskets behind the price. ${DIGITS}`),
    optional('source_basket', 'Deepest basket behind the price; null for an anchor without one.'),
    text('baskets', 'Baskets behind the price, deepest first, JSON: `[{"basketId","chain","price","depth"}]`.'),
    column('provisional', 'Bool', null, PROVISIONAL, `tick >= ${FIRST_AHEAD_TICK}`),
  ],
  order: ['height', 'currency_id'],
  copied: [],
  other: [],
};

const COPIED_OF_STAMPS = [
  { name: 'priced_currency_id', type: 'Nullable(String)' },
  { name: 'priced_currency_usd', type: 'Nullable(Decimal(76, 30))' },
  { name: 'price_basket', type: 'Nullable(String)' },
  { name: 'price_height', type: 'Nullable(UInt32)' },
  { name: 'regime_version', type: 'Nullable(UInt32)' },
] as const;

const CONVERSIONS: GenerationTable = {
  store: 'prices',
  name: 'conversions',
  table: 'conversions',
  height: 'import_height',
  stored: ['generation', ...CONVERSION_FACT_COLUMNS, ...CONVERSION_STAMP_COLUMNS],
  summary:
    'Conversions that an import has executed, with their USD stamps of the served generation and, as `other_…`, of the other generation if there is one. One row for each conversion; ' +
    'pending conversions are in `transfers`.',
  final: 'When its day is closed: no rewind of any chain can reach the day, and none of its stamps is provisional.',
  columns: [
    ROW_PLACE.chain,
    { ...ROW_PLACE.height, text: 'Block of the import that executed the conversion.', sql: 'import_height' },
    { ...ROW_PLACE.time, text: 'Time of that block.' },
    GENERATION,
    column('txid', 'String', null, 'Transaction of the request, as in `transfers`.', 'toString(txid)'),
    integer('vout', 'Output of the request, as in `transfers`.'),
    text('kind', '`convert`, `via`, `preconvert`, `mint` or `burn`. Volumes count completed `convert` and `via`.'),
    text(
      'status',
      '`completed`, `refunded` or `unmatched`. An `unmatched` conversion with the reason `no_delivery` counts as refunded: [conversions](conversions.md).',
    ),
    optional('from_currency_id', 'Currency of the input; null for a mint.'),
    text('to_currency_id', 'Currency of the output.'),
    optional('via_currency_id', 'Basket between the two reserves; null except for `via`.'),
    optional('basket_id', 'Basket that executed the conversion.'),
    satoshis('amount_in', 'Amount of the input, with the conversion fee.'),
    column('amount_out', 'Nullable(Int64)', SATOSHIS, 'Amount paid out; null when refunded.', 'amount_out'),
    satoshis('conversion_fee', 'Fee of the conversion in the currency of the input; for a `via`, of both legs.'),
    optional('source', 'Address that requested the conversion.'),
    optional('destination', 'Address that is paid.'),
    integer('request_height', 'Block of the request.'),
    usd('from_usd', `Value of the input. ${DIGITS}`),
    usd('to_usd', `Value of the amount paid out. ${DIGITS}`),
    usd('usd_value', `Value of the conversion, by \`rule\`. ${DIGITS}`),
    text(
      'rule',
      'Rule that selects the side for the value: `stable_in`, `stable_out`, `to_basket_from`, `to_side`, or `unpriced`.',
    ),
    text('regime', '`live` or `backfill`: the regime of the stamp.'),
    column('diverged', 'Bool', null, 'Whether the values of the two sides differ by more than 10 %.', 'diverged'),
    column('provisional', 'Bool', null, PROVISIONAL, `provisional OR tick >= ${FIRST_AHEAD_TICK}`),
    optional('reason', 'Why there is no value; `mirrored` if the value is that of the other side.'),
    optional('priced_currency_id', 'Currency of the side that decides `usd_value`; null if neither does.'),
    usd(
      'priced_currency_usd',
      `Price of that currency; \`usd_value\` is the price times the amount of that side. ${DIGITS}`,
    ),
    optional('price_basket', 'Basket of the price; null for an anchor.'),
    optionalInteger('price_height', 'Block whose end the prices are of; null if no price was used.'),
    optionalInteger('regime_version', 'Version of the rules of `regime`.'),
    optionalInteger('other_generation', 'The other generation; null if there is none or it does not have the row.'),
    usd('other_from_usd', `As \`from_usd\`, by that generation. ${DIGITS}`),
    usd('other_to_usd', `As \`to_usd\`, by that generation. ${DIGITS}`),
    usd('other_usd_value', `As \`usd_value\`, by that generation. ${DIGITS}`),
    optional('other_rule', 'As `rule`, by that generation.'),
    optional('other_regime', 'As `regime`, by that generation.'),
    optional('other_reason', 'As `reason`, by that generation.'),
    optional('other_priced_currency_id', 'As `priced_currency_id`, by that generation.'),
    usd('other_priced_currency_usd', `As \`priced_currency_usd\`, by that generation. ${DIGITS}`),
    optional('other_price_basket', 'As `price_basket`, by that generation.'),
    optionalInteger('other_price_height', 'As `price_height`, by that generation.'),
    optionalInteger('other_regime_version', 'As `regime_version`, by that generation.'),
  ],
  order: ['height', 'txid', 'vout'],
  copied: COPIED_OF_STAMPS,
  other: [
    ...['generation', 'from_usd', 'to_usd', 'usd_value', 'rule', 'regime', 'reason'],
    ...COPIED_OF_STAMPS.map(({ name }) => name),
  ].map((from) => ({ name: `other_${from}`, column: from })),
};

export const PRICED_TABLES = [PRICES, CONVERSIONS] as const;
