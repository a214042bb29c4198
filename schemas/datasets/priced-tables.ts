/** The tables of the data set that hold prices and the USD stamps of conversions. */
import { CONVERSION_FACT_COLUMNS, CONVERSION_STAMP_COLUMNS } from '../conversion-columns.ts';
import type { DatasetColumn } from './column.ts';
import { type GenerationTable, ROW_PLACE } from './table.ts';

/** Ticks of provisional rows begin here: schemas/postgres/0019-price-ahead.sql. */
export const FIRST_AHEAD = 2n ** 40n;
const SATOSHIS = '10^-8 of a coin';
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

const DIGITS = 'Cut to 18 decimals; null too where it is 10^20 or more.';
const PROVISIONAL =
  'Whether it may still change: another chain’s clock has not passed the block, or the median of a backfill price is open.';
const GENERATION = integer('generation', 'Generation of the prices: `verustream reprocess` makes and swaps them.');

const PRICES: GenerationTable = {
  store: 'prices',
  name: 'prices',
  table: 'prices',
  height: 'height',
  stored: [
    ...[
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
    ],
    ...['source_basket', 'baskets'],
  ],
  summary:
    'USD prices of currencies: at each block of the first configured chain for all of them, at blocks of the others for those whose price changed.',
  final: 'When its day is closed: no rewind of any chain reaches it and no price of it is provisional.',
  columns: [
    { ...ROW_PLACE.chain, text: 'Chain of the block.' },
    ROW_PLACE.height,
    ROW_PLACE.time,
    GENERATION,
    text('currency_id', 'Currency.'),
    integer('tier', 'How the price was found: [prices](prices.md).'),
    usd('usd_price', `Price of one coin. ${DIGITS}`),
    usd('ema_price', `Its exponential moving average. ${DIGITS}`),
    usd('total_depth', `Depth of the baskets that gave it. ${DIGITS}`),
    optional('source_basket', 'Basket that gave it; null for an anchor.'),
    text('baskets', 'Baskets that were counted, deepest first, JSON: `[{"basketId","chain","price","depth"}]`.'),
    column('provisional', 'Bool', null, PROVISIONAL, `tick >= ${FIRST_AHEAD}`),
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
    'Conversions that an import has executed, with their USD stamps by the served generation and, as `other_…`, by the other one, while there is one. One row a conversion; ' +
    'those that still wait are in `transfers`.',
  final: 'When its day is closed: no rewind of any chain reaches it and no stamp of it is provisional.',
  columns: [
    ROW_PLACE.chain,
    { ...ROW_PLACE.height, text: 'Block of the import that executed it.', sql: 'import_height' },
    { ...ROW_PLACE.time, text: 'Time of that block.' },
    GENERATION,
    column('txid', 'String', null, 'Transaction that asked for it, as in `transfers`.', 'toString(txid)'),
    integer('vout', 'Output that asked for it, as in `transfers`.'),
    text(
      'kind',
      '`convert`, `via`, `preconvert`, `mint` or `burn`. Volumes count `convert` and `via` that are completed.',
    ),
    text(
      'status',
      '`completed`, `refunded` or `unmatched`. An `unmatched` one with the reason `no_delivery` counts as refunded: [conversions](conversions.md).',
    ),
    optional('from_currency_id', 'Currency that was given; null for a mint.'),
    text('to_currency_id', 'Currency that was asked for.'),
    optional('via_currency_id', 'Basket between two of its reserves; null but for `via`.'),
    optional('basket_id', 'Basket that converted it.'),
    satoshis('amount_in', 'What was given, the conversion fee included.'),
    column('amount_out', 'Nullable(Int64)', SATOSHIS, 'What was paid; null when refunded.', 'amount_out'),
    satoshis('conversion_fee', 'Fee of the conversion in the currency that was given, of both legs of a `via`.'),
    optional('source', 'Who asked for it.'),
    optional('destination', 'Who is paid.'),
    integer('request_height', 'Block of the request.'),
    usd('from_usd', `Worth of what was given. ${DIGITS}`),
    usd('to_usd', `Worth of what was paid. ${DIGITS}`),
    usd('usd_value', `Value of the conversion, by \`rule\`. ${DIGITS}`),
    text('rule', 'Which side gave the value: `stable_in`, `stable_out`, `to_basket_from`, `to_side`, or `unpriced`.'),
    text('regime', '`live` or `backfill`: the rules that stamped it.'),
    column('diverged', 'Bool', null, 'Whether the two sides disagree by more than 10 %.', 'diverged'),
    column('provisional', 'Bool', null, PROVISIONAL, `provisional OR tick >= ${FIRST_AHEAD}`),
    optional('reason', 'Why it has no value, or `mirrored`: the value of the other side.'),
    optional('priced_currency_id', 'Currency of the side that decides `usd_value`; null where none does.'),
    usd('priced_currency_usd', `Its price: \`usd_value\` is this times the amount of that side. ${DIGITS}`),
    optional('price_basket', 'Basket that the price is of; null for an anchor.'),
    optionalInteger('price_height', 'Block at whose end the prices held; null where no price was used.'),
    optionalInteger('regime_version', 'Version of the rules of `regime`.'),
    optionalInteger('other_generation', 'The other generation; null where there is none, or it does not have the row.'),
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
