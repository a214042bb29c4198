/** Schemas of the mempool paths. */
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
    'True while the daemon has more than this service shows. Beyond 50,000 the transactions with the lowest fee rates are left out, and so are unreadable ones',
} as const;

/** Pages but no cursor, because the rows exist only in the memory of this process. */
const list = <const Row extends JsonSchema, const Members extends Readonly<Record<string, JsonSchema>>>(
  row: Row,
  members: Members,
  what?: string,
) =>
  object({
    chain: string,
    checkedAt: { ...isoTime, description: 'When the daemon was last asked' },
    waiting: { ...integer, description: 'Transactions that this service shows' },
    listed: { ...integer, description: 'Transactions in the mempool of the daemon' },
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
  txid: { ...hash, description: 'Of the request; with vout the key of the conversion, also after confirmation' },
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
  txFeeRate: { ...nullableNumber, description: 'Fee rate of its transaction, satoshis per byte' },
} as const satisfies Readonly<Record<string, JsonSchema>>;

const waitingConversion = object(waitingConversionMembers);
export const mempoolConversions = list(waitingConversion, {});

const isEstimate = {
  type: 'boolean',
  enum: [true],
  description: 'Always true: the output depends on everything that the import will execute, and more may still join',
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
      description: 'Null if the basket is not live, lacks a reserve, or cannot execute all that waits for it',
    },
  }),
  { isEstimate, block: { ...object({ height, hash }), description: 'Block whose reserves the estimates start from' } },
  'Each estimate assumes that the next import of the basket executes all that waits for it now',
);
