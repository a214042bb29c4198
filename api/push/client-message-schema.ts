/** Messages that a client of the push stream may send. */

import { writtenName } from '../schema/json-schema.ts';
import { writtenDecimal } from '../schema/written-decimal.ts';

/** Longest message, in characters. */
export const LONGEST_ID = 64;
const id = { type: ['string', 'number', 'null'], maxLength: LONGEST_ID } as const;
const oneOrMany = { anyOf: [writtenName, { type: 'array', items: writtenName, minItems: 1 }] } as const;

const MAX_CONFIRMATIONS = 100;
/** An option of subscriptions of the stream and of webhooks. */
export const writtenConfirmations = {
  type: 'integer',
  minimum: 0,
  maximum: MAX_CONFIRMATIONS,
  description: 'Further blocks that must stand on an event before it is sent',
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
      description: 'Whether the state comes first, of prices, reserves and pending conversions; not with a cursor',
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
