/** What waits for a block. */
import { conversionMembers, seenAt, waitingTransaction } from '../../mempool/transaction-schema.ts';
import {
  array,
  boolean,
  hash,
  height,
  integer,
  isoTime,
  type JsonSchema,
  nullableCoins,
  nullableNumber,
  nullableString,
  object,
  string,
} from '../../schema/json-schema.ts';

const truncated = {
  ...boolean,
  description:
    'True while the daemon holds more than this service shows: of more than 50,000 the lowest fee rates are left out, as is what cannot be read',
} as const;

/** Rows come from memory and from this process alone, so there are pages but no cursor. */
const list = <const Row extends JsonSchema, const Members extends Readonly<Record<string, JsonSchema>>>(
  row: Row,
  members: Members,
  what?: string,
) =>
  object({
    chain: string,
    checkedAt: { ...isoTime, description: 'When the daemon was last asked' },
    waiting: { ...integer, description: 'Transactions that this service shows' },
    listed: { ...integer, description: 'Transactions that the daemon holds' },
    truncated,
    ...members,
    results: array(row, what),
    page: integer,
    pageSize: { type: 'integer', minimum: 1, maximum: 200, description: 'Rows a page; more than 200 is served as 200' },
    total: integer,
    totalPages: integer,
  });

export const mempoolList = list(waitingTransaction, {});

const { vout, fromCurrencyId, toCurrencyId, viaCurrencyId, basketId, ...rest } = conversionMembers;

const waitingConversionMembers = {
  txid: { ...hash, description: 'Of the request; with vout the key of the conversion, in its block too' },
  vout,
  chain: string,
  seenAt,
  status: { type: 'string', enum: ['unconfirmed'] },
  fromCurrencyId,
  fromCurrencyName: nullableString,
  toCurrencyId,
  toCurrencyName: nullableString,
  viaCurrencyId,
  viaCurrencyName: nullableString,
  basketId,
  basketName: nullableString,
  ...rest,
  txFeeRate: { ...nullableNumber, description: 'Of its transaction, satoshis a byte' },
} as const satisfies Readonly<Record<string, JsonSchema>>;

const waitingConversion = object(waitingConversionMembers);
export const mempoolConversions = list(waitingConversion, {});

const isEstimate = {
  type: 'boolean',
  enum: [true],
  description: 'What a conversion brings is decided by all that its import executes, and more may still join',
} as const;

export const mempoolEstimates = list(
  object({
    txid: hash,
    vout,
    status: {
      type: 'string',
      enum: ['unconfirmed', 'pending'],
      description: 'pending: in a block, waiting for its import',
    },
    type: { type: 'string', enum: ['convert', 'via'] },
    fromCurrencyId,
    toCurrencyId,
    viaCurrencyId,
    basketId,
    basketName: nullableString,
    amountIn: rest.amountIn,
    estimatedOut: {
      ...nullableCoins,
      description: 'Null where the basket is not live, lacks a reserve, or cannot bear all that waits for it',
    },
  }),
  { isEstimate, block: { ...object({ height, hash }), description: 'Whose reserves the estimates begin with' } },
  'Each as if the import of its basket executed now all that waits for it',
);
