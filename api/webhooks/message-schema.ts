/** Messages of webhooks, by type. AsyncAPI and the tests are made from this. */

import { chain, type EventDescription, pushEvents } from '../push/message-schema.ts';
import { height, isoTime, type JsonSchema, object, string, unixTime } from '../schema/json-schema.ts';
import { RESYNC_REASONS } from './delivery-rows.ts';

export interface WebhookMessage {
  readonly summary: string;
  readonly message: JsonSchema;
}

const timestamp = {
  ...isoTime,
  description: 'Time of the block; for events without a block, when it was noticed',
} as const;
const reverts = { type: 'string', description: 'The header webhook-id of the message that no longer holds' } as const;

const typed = (type: string, members: Readonly<Record<string, JsonSchema>>): JsonSchema =>
  object({ type: { type: 'string', enum: [type] }, timestamp, ...members });

const dataOf = ({ message }: EventDescription): JsonSchema => message.properties?.data ?? {};

const crossing = object({
  currency: { ...string, description: 'As registered' },
  currencyId: string,
  usd: { type: 'number', description: 'The threshold' },
  direction: { type: 'string', enum: ['above', 'below'], description: 'above: at the threshold or above it now' },
  usdPrice: { type: 'number' },
  height: { ...height, description: 'Of the block whose price it is' },
  time: unixTime,
});

/** Kinds of messages about a block, with their data; shared with the stream where they are the same. */
const OF_BLOCKS = {
  block: ['A block was indexed', dataOf(pushEvents.block)],
  'address.activity': ['A transaction touched an address of the filter', dataOf(pushEvents.address)],
  'identity.updated': ['An identity was registered or changed', dataOf(pushEvents.identity)],
  'conversion.completed': ['A conversion was paid out', dataOf(pushEvents.conversion)],
  'price.threshold': ['A price passed a threshold of the webhook', crossing],
} as const;

const reversible = Object.entries(OF_BLOCKS).flatMap(([kind, [summary, data]]): [string, WebhookMessage][] => {
  const back = `${kind}.reverted`;
  return [
    [kind, { summary, message: typed(kind, { chain, data }) }],
    [back, { summary: `Reverts a ${kind}: its block is gone`, message: typed(back, { chain, reverts, data }) }],
  ];
});

/** By type. */
export const webhookMessages: Readonly<Record<string, WebhookMessage>> = {
  ...Object.fromEntries(reversible),
  reorg: {
    summary: 'Blocks were removed; each message about one of them is reverted by a message of its own',
    message: typed('reorg', { chain, data: dataOf(pushEvents.undo) }),
  },
  resync: {
    summary:
      'Some events are not sent, because they can no longer be read or too many waited: read the state from the REST paths',
    message: typed('resync', { chain, data: object({ reason: { type: 'string', enum: RESYNC_REASONS } }) }),
  },
  test: {
    summary: 'Asked for by the owner of the webhook',
    message: typed('test', { data: object({ webhookId: string }) }),
  },
};
