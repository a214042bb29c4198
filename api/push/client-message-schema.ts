/** Messages that a client of the push stream may send. */

import { writtenName } from '../schema/json-schema.ts';
import { writtenDecimal } from '../schema/written-decimal.ts';

/** Longest id of a message, in characters. */
export const LONGEST_ID = 64;
const id = { type: ['string', 'number', 'null'], maxLength: LONGEST_ID } as const;
const oneOrMany = { anyOf: [writtenName, { type: 'array', items: writtenName, minItems: 1 }] } as const;

const MAX_CONFIRMATIONS = 100;
/** The option `confirmations` of stream subscriptions and webhooks. */
export const writtenConfirmations = {
  type: 'integer',
  minimum: 0,
  maximum: MAX_CONFIRMATIONS,
  description: "Further blocks that must follow an event's block before the event is sent",
} as const;

export const subscribeMessage = {
  type: 'object',
  properties: {
    op: { const: 'subscribe' },
    id,
    channels: { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: 20 },
    chains: { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: 100 },
    filter: {
      type: 'object',
      properties: {
        currency: oneOrMany,
        basket: oneOrMany,
        identity: oneOrMany,
        address: oneOrMany,
        minUsd: writtenDecimal,
      },
      additionalProperties: false,
    },
    confirmations: writtenConfirmations,
    snapshot: {
      type: 'boolean',
      description: 'Whether to send the state of prices, reserves and pending conversions first; not with a cursor',
    },
    cursor: { type: 'string' },
  },
  required: ['op'],
  additionalProperties: false,
} as const;

export const unsubscribeMessage = {
  type: 'object',
  properties: { op: { const: 'unsubscribe' }, id },
  required: ['op'],
  additionalProperties: false,
} as const;

export const pingMessage = {
  type: 'object',
  properties: { op: { const: 'ping' }, id },
  required: ['op'],
  additionalProperties: false,
} as const;
