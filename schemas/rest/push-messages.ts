/** What the push stream sends: every message by its type. AsyncAPI, the client's types and the tests are made from this. */
import { IDENTITY_CHANGE_KINDS, TRANSACTION_TYPES } from '../facts.ts';
import { CONVERSION_STATUSES, CONVERSION_TYPES } from './conversions.ts';
import {
  array,
  coins,
  hash,
  height,
  integer,
  type JsonSchema,
  nullableCoins,
  nullableHash,
  nullableInteger,
  nullableString,
  object,
  string,
  unixTime,
} from './json-schema.ts';

const place = { height, time: unixTime } as const;
const transactionType = { type: 'string', enum: TRANSACTION_TYPES } as const;
const tip = {
  ...object({ height, hash }),
  type: ['object', 'null'],
  description: 'Null before the first block',
} as const;
const tips: JsonSchema = { type: 'object', additionalProperties: tip, description: 'Newest block by chain' };

const seq = {
  type: 'integer',
  minimum: 1,
  description: 'Counts the messages of this connection without a gap',
} as const;
const cursor = {
  type: 'string',
  pattern: '^[A-Za-z0-9_-]+$',
  description: 'Holds the place in every chain: who comes back with it gets all that came after this message',
} as const;
const chain = { type: 'string', description: 'Short name of a configured chain' } as const;
const id = { type: ['string', 'number', 'null'], description: 'As the client sent it' } as const;

/** A message with a type of its own. */
const typed = (type: string, members: Readonly<Record<string, JsonSchema>>): JsonSchema =>
  object({ type: { type: 'string', enum: [type] }, ...members });

export interface EventDescription {
  /** Channel that carries it; an undo comes on all of them. */
  readonly channel: string;
  readonly summary: string;
  readonly message: JsonSchema;
}

const event = (type: string, channel: string, summary: string, data: JsonSchema): EventDescription => ({
  channel,
  summary,
  message: typed(type, { chain, seq, cursor, data }),
});

export const undoData = object({
  fromHeight: { ...height, description: 'The newest block before: it and all down to toHeight + 1 no longer hold' },
  toHeight: { ...height, description: 'The newest block that stays' },
  hash,
  reason: { type: 'string', enum: ['reorg'] },
});

/** By type. */
export const pushEvents = {
  block: event(
    'block',
    'blocks',
    'A block on top of the one told before',
    object({
      height,
      hash,
      previousHash: nullableHash,
      time: unixTime,
      txCount: integer,
      size: { type: 'integer', description: 'Bytes' },
      validationType: { type: 'string', enum: ['work', 'stake'] },
      difficulty: { type: 'number' },
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
    'A conversion, each time its status changes; txid and vout are its key',
    object({
      txid: hash,
      vout: integer,
      ...place,
      status: { type: 'string', enum: CONVERSION_STATUSES },
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
  ),
  reserves: event(
    'reserves',
    'reserves',
    'What a basket holds after a block',
    object({
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
    }),
  ),
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
  undo: event('undo', '*', 'A reorganisation: what was told of the blocks above toHeight no longer holds', undoData),
} as const satisfies Readonly<Record<string, EventDescription>>;

/** What is no event: by type. */
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
      'The place of the cursor is no longer kept, or of another log: read the snapshot, then go on from this cursor',
    message: typed('resync', {
      chain,
      reason: { type: 'string', enum: ['cursor_expired', 'cursor_unknown'] },
      snapshot: { type: 'string', description: 'Path to read the state from' },
      seq,
      cursor,
    }),
  },
  ack: {
    summary: 'A subscription was taken or ended; channels and chains are those of a subscription',
    message: {
      ...typed('ack', { id, seq, cursor, channels: array(string), chains: array(string) }),
      required: ['type', 'id', 'seq', 'cursor'],
    },
  },
  pong: { summary: 'Answers a ping', message: typed('pong', { id, seq, cursor }) },
  error: {
    summary: 'What was wrong with a message of the client; nothing has changed by it',
    message: typed('error', { id, code: string, detail: string, seq, cursor }),
  },
} as const;
