/** Messages of the push stream, by type. AsyncAPI, the client's types and the tests are made from this. */

import { REGIMES, STAMP_RULES } from '../../domain/stamps.ts';
import { CONVERSION_STATUSES, CONVERSION_TYPES } from '../../domain/transfers.ts';
import { IDENTITY_CHANGE_KINDS } from '../../schemas/facts.ts';
import { waitingTransaction } from '../mempool/transaction-schema.ts';
import {
  array,
  coins,
  finalizedHeight,
  hash,
  height,
  integer,
  type JsonSchema,
  nullable,
  nullableCoins,
  nullableHash,
  nullableInteger,
  nullableString,
  nullableUsd,
  object,
  type Properties,
  type Schema,
  string,
  transactionType,
  unixTime,
  withOptional,
} from '../schema/json-schema.ts';
import { mempoolGoneData, mempoolSnapshotData } from './mempool-schema.ts';
import type { SnapshotChannel } from './snapshot-rows.ts';

const place = { height, time: unixTime } as const;
const tip = { ...nullable(object({ height, hash, finalizedHeight })), description: 'Null before the first block' };
const tips = { type: 'object', additionalProperties: tip, description: 'Newest block by chain' } as const;

const seq = {
  type: 'integer',
  minimum: 1,
  description: 'Counts the messages of this connection without a gap',
} as const;
const cursor = {
  type: 'string',
  pattern: '^[A-Za-z0-9_-]+$',
  description: 'The place in every chain: a client that returns with it gets every message after this one',
} as const;
export const chain = { type: 'string', description: 'Short name of a configured chain' } as const;
const id = { type: ['string', 'number', 'null'], description: 'As the client sent it' } as const;

const confirmations = {
  type: 'integer',
  minimum: 1,
  description: 'Confirmations of the subscription; absent if it has none',
} as const;

/** Schema of a message with this `type`. */
const typed = <const T extends string, const P extends Properties>(type: T, members: P) =>
  object({ type: { type: 'string', enum: [type] }, ...members });

/** Adds the member `confirmations`, which messages of subscriptions with confirmations have. */
const withConfirmations = <T>(message: Schema<T>) => withOptional(message, { confirmations });

export interface EventDescription {
  /** Channel that carries it; an undo comes on all of them. */
  readonly channel: string;
  readonly summary: string;
  readonly message: JsonSchema;
}

const event = <const T extends string, const D extends JsonSchema>(
  type: T,
  channel: string,
  summary: string,
  data: D,
) => ({ channel, summary, message: withConfirmations(typed(type, { chain, seq, cursor, data })) });

const provisional = {
  type: 'boolean',
  description: "True while another chain's clock has still to pass the block: a correction follows once it has",
} as const;

/** Members of a conversion with filter.minUsd, and of one that counts as refunded for no_delivery. */
const valued = {
  fromUsd: nullableUsd,
  toUsd: nullableUsd,
  usdValue: nullableUsd,
  rule: { type: 'string', enum: STAMP_RULES },
  reason: nullableString,
  pricedCurrencyId: nullableString,
  pricedCurrencyUsd: nullableUsd,
  priceBasketId: nullableString,
  diverged: { type: 'boolean' },
  regime: { type: 'string', enum: REGIMES },
  provisional,
} as const satisfies Properties;

const undoOf = {
  type: 'string',
  enum: ['prices'],
  description: 'It concerns prices and conversions with their value, and nothing else; absent: all but these',
} as const;

const undoData = withOptional(
  object({
    fromHeight: { ...height, description: 'The newest block before: it and all down to toHeight + 1 no longer hold' },
    toHeight: { type: 'integer', minimum: -1, description: 'The newest block that stays; -1 when there is none' },
    hash: { ...nullable(hash), description: 'Of that block; null when there is none' },
    reason: {
      type: 'string',
      enum: ['reorg', 'repriced'],
      description: 'repriced: the blocks stay, but data of another chain changes their prices',
    },
  }),
  { of: undoOf },
);

/** A correction carries the row as it was sent and the row that replaces it. Either is null if there is no such row. */
const correctionOf = <T>(data: Schema<T>) =>
  object({
    was: { ...nullable(data), description: 'As it was sent before; null when there was no such row' },
    now: { ...nullable(data), description: 'What holds from now on; null when there is no such row' },
  });

const conversionData = withOptional(
  object({
    txid: hash,
    vout: integer,
    ...place,
    status: {
      type: 'string',
      enum: CONVERSION_STATUSES,
      description:
        'Status on its chain; refunded with reason no_delivery corrects only an unmatched conversion with the same importTxid',
    },
    type: { type: 'string', enum: CONVERSION_TYPES },
    fromCurrencyId: nullableString,
    toCurrencyId: string,
    viaCurrencyId: nullableString,
    amountIn: coins,
    amountOut: nullableCoins,
    fee: coins,
    source: nullableString,
    destination: nullableString,
    exportTxid: nullableHash,
    exportVout: nullableInteger,
    exportIndex: nullableInteger,
    sourceSystemId: nullableString,
    importSystemId: nullableString,
    importTxid: nullableHash,
    importHeight: nullableInteger,
  }),
  valued,
);

const priceData = object({
  currencyId: string,
  height: { ...height, description: 'Of the block that changed it, on `chain`' },
  time: unixTime,
  usdPrice: { type: 'number' },
  emaPrice: {
    type: 'number',
    description: 'Exponential average, which moves with each block of the default chain',
  },
  totalDepth: { type: 'number', description: 'USD' },
  tier: { type: 'integer', description: 'Hops from a stablecoin; 0 for one' },
  sourceBasketId: { ...nullableString, description: 'The deepest basket that it comes from; null for an anchor' },
  provisional,
});

const reservesData = object({
  currencyId: string,
  txid: hash,
  ...place,
  flags: integer,
  supply: coins,
  reserves: array(
    object({
      currencyId: string,
      weight: { type: 'number', description: '1 = 100 %' },
      reserve: coins,
      priceInReserve: coins,
    }),
  ),
});

/** By type. */
export const pushEvents = {
  block: event(
    'block',
    'blocks',
    'A block on top of the one sent before',
    object({
      height,
      hash,
      previousHash: nullableHash,
      time: unixTime,
      txCount: integer,
      size: { type: 'integer', description: 'Bytes' },
      validationType: { type: 'string', enum: ['work', 'stake'] },
      difficulty: { type: 'number' },
      finalizedHeight,
    }),
  ),
  tx: event(
    'tx',
    'txs',
    'A transaction in a block',
    object({
      txid: hash,
      ...place,
      type: transactionType,
      types: array(transactionType, 'Every type that fits, the first of them is `type`'),
      fee: { ...nullableCoins, description: 'Null for a coinbase and for an import, whose surplus is no miner fee' },
      size: { type: 'integer', description: 'Bytes' },
    }),
  ),
  conversion: event(
    'conversion',
    'conversions',
    'A conversion, each time its status changes; with filter.minUsd once its value is known; txid and vout are its key',
    conversionData,
  ),
  conversion_correction: event(
    'conversion_correction',
    'conversions',
    'A conversion has another value, or its value is no longer provisional',
    correctionOf(conversionData),
  ),
  price: event(
    'price',
    'prices',
    'The oracle price of a currency after a block that changed it, its depth or its source',
    priceData,
  ),
  price_correction: event(
    'price_correction',
    'prices',
    'A price that was sent before has another value, or is no longer provisional; this is not a new price',
    correctionOf(priceData),
  ),
  reserves: event('reserves', 'reserves', 'What a basket holds after a block', reservesData),
  identity: event(
    'identity',
    'identities',
    'An identity was registered or changed',
    object({
      identityAddress: string,
      name: string,
      fullyQualifiedName: string,
      ...place,
      txid: hash,
      kind: { type: 'string', enum: IDENTITY_CHANGE_KINDS },
      flags: integer,
      changes: array(object({ field: string, old: {}, new: {} })),
    }),
  ),
  address: event(
    'address',
    'addresses',
    'What a transaction did to an address of the filter',
    object({
      address: string,
      txid: hash,
      ...place,
      received: coins,
      sent: coins,
      net: coins,
      currencies: array(object({ currencyId: string, amount: coins }), 'Currencies other than the native coin'),
    }),
  ),
  mempool_snapshot: event(
    'mempool_snapshot',
    'mempool',
    'All waiting transactions, in parts; after a subscription, and again if the client has fallen too far behind',
    mempoolSnapshotData,
  ),
  mempool_tx: event(
    'mempool_tx',
    'mempool',
    'A transaction waits for a block, for the first time or again',
    waitingTransaction,
  ),
  mempool_gone: event('mempool_gone', 'mempool', 'A transaction no longer waits, with the reason', mempoolGoneData),
  undo: event('undo', '*', 'A reorganisation: messages about the blocks above toHeight no longer hold', undoData),
} as const satisfies Readonly<Record<string, EventDescription>>;

/** A part of a snapshot. */
function partOf<const C extends SnapshotChannel, T>(channel: C, data: Schema<T>) {
  const row = object({ height: { ...height, description: 'Height of the block that the row comes from' }, data });
  return typed('snapshot', {
    id,
    channel: { type: 'string', enum: [channel] },
    chain,
    since: {
      type: 'integer',
      minimum: -1,
      description: 'Above this height every row of the chain is there, below it only the newest of each key',
    },
    part: { type: 'integer', minimum: 1, description: 'Counts the parts of the snapshot' },
    rows: array(row, 'As the events brought them, the lowest block first'),
    last: { type: 'boolean', description: 'Whether it is the last part: events follow' },
    seq,
    cursor,
  });
}

/** Messages that are not events, by type. */
export const pushNotices = {
  hello: {
    summary: 'The greeting, before anything else',
    message: typed('hello', {
      version: { type: 'integer', enum: [1] },
      chains: tips,
      cursor,
      heartbeatSeconds: { type: 'number' },
    }),
  },
  heartbeat: {
    summary: 'After heartbeatSeconds without another message',
    message: typed('heartbeat', { chains: tips, seq, cursor }),
  },
  resync: {
    summary:
      'The place of the cursor is no longer kept, or belongs to another log: read the snapshot, then continue from this cursor',
    message: typed('resync', {
      chain,
      reason: { type: 'string', enum: ['cursor_expired', 'cursor_unknown'] },
      snapshot: { type: 'string', description: 'Path to read the state from' },
      seq,
      cursor,
    }),
  },
  snapshot: {
    summary:
      'A part of the state that a subscription with `snapshot` begins with; the events after its last part continue it. A part 1 replaces all that came before',
    message: {
      anyOf: [partOf('prices', priceData), partOf('reserves', reservesData), partOf('conversions', conversionData)],
    },
  },
  ack: {
    summary: 'A subscription was taken or ended; channels and chains are those of a subscription',
    message: withOptional(typed('ack', { id, seq, cursor }), {
      channels: array(string),
      chains: array(string),
      confirmations,
    }),
  },
  pong: { summary: 'The answer to a ping', message: typed('pong', { id, seq, cursor }) },
  error: {
    summary: 'The error in a message that the client sent; the server ignored that message',
    message: typed('error', { id, code: string, detail: string, seq, cursor }),
  },
} as const;
