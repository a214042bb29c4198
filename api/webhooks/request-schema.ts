/** Schema of the body that registers a webhook. */
import { writtenConfirmations } from '../push/client-message-schema.ts';
import { writtenName } from '../schema/json-schema.ts';
import { writtenDecimal } from '../schema/written-decimal.ts';

export const KINDS = [
  'block',
  'reorg',
  'address.activity',
  'identity.updated',
  'conversion.completed',
  'price.threshold',
] as const;
export type Kind = (typeof KINDS)[number];
const MOST_THRESHOLDS = 50;
const MOST_NAMES = 1_000;

const names = {
  anyOf: [writtenName, { type: 'array', items: writtenName, minItems: 1, maxItems: MOST_NAMES }],
} as const;

/** Members of a registration; a change has the same members. */
export const requestMembers = {
  url: { type: 'string', minLength: 1, maxLength: 2_048, description: 'https://… of the receiver' },
  description: { type: 'string', maxLength: 200 },
  events: { type: 'array', items: { type: 'string', enum: KINDS }, minItems: 1, maxItems: KINDS.length },
  chains: {
    type: ['array', 'null'],
    items: { type: 'string', maxLength: 32 },
    minItems: 1,
    maxItems: 100,
    description: 'Short names; null for all',
  },
  filter: {
    type: 'object',
    properties: {
      currency: names,
      basket: names,
      identity: names,
      address: names,
      minUsd: { ...writtenDecimal, description: 'Conversions of at least this value, sent once it is known' },
    },
    additionalProperties: false,
    description: 'As in a subscription of the stream: names or addresses, one or several of each',
  },
  thresholds: {
    type: 'array',
    maxItems: MOST_THRESHOLDS,
    items: {
      type: 'object',
      properties: {
        currency: { ...writtenName, description: 'Name, or i-address' },
        usd: writtenDecimal,
        direction: { type: 'string', enum: ['above', 'below', 'both'], default: 'both' },
      },
      required: ['currency', 'usd'],
      additionalProperties: false,
    },
    description: 'For price.threshold: sends a message when a price passes one of them',
  },
  confirmations: writtenConfirmations,
} as const;

export const webhookRequest = {
  type: 'object',
  properties: requestMembers,
  required: ['url', 'events'],
  additionalProperties: false,
} as const;
