/** Schemas of webhooks and their deliveries. */

import {
  array,
  boolean,
  integer,
  isoTime,
  nullable,
  nullableInteger,
  nullableString,
  nullableTime,
  object,
  string,
} from '../../schema/json-schema.ts';
import { KINDS, requestMembers } from '../../webhooks/request-schema.ts';
import { DELIVERY_STATES, DISABLED_REASONS } from '../../webhooks/states.ts';

export const webhookChange = {
  type: 'object',
  properties: {
    ...requestMembers,
    enabled: { type: 'boolean', description: 'True enables the webhook again, even if failures disabled it' },
    rotateSecret: {
      type: 'boolean',
      enum: [true],
      description: 'Makes a new secret, shown in this answer; the old one keeps signing too for 24 hours',
    },
  },
  additionalProperties: false,
} as const;

const webhookMembers = {
  id: string,
  url: string,
  description: string,
  events: array({ type: 'string', enum: KINDS }),
  chains: nullable(array(string)),
  filter: { type: 'object', additionalProperties: true },
  thresholds: array(object({ currency: string, usd: { type: 'number' }, direction: string })),
  confirmations: integer,
  enabled: boolean,
  disabledReason: {
    type: ['string', 'null'],
    enum: [...DISABLED_REASONS, null],
    description: 'gone: the receiver answered 410; failing: the receiver accepted nothing for 5 days',
  },
  failingSince: nullableTime,
  createdAt: isoTime,
  oldSecretEndsAt: nullableTime,
} as const;
export const webhook = object(webhookMembers);
export const webhookList = object({ webhooks: array(webhook) });
export const webhookWithSecret = object({
  ...webhookMembers,
  secret: { ...nullableString, description: 'whsec_…; shown only when it is made, otherwise null' },
});

const deliveryMembers = {
  id: { ...string, description: 'The header webhook-id of each attempt' },
  kind: string,
  chain: nullableString,
  height: { ...nullableInteger, description: 'Height of the block of the event' },
  state: {
    type: 'string',
    enum: DELIVERY_STATES,
    description: 'held: waits for its confirmations; pending: waits for its next attempt',
  },
  reverts: { ...nullableString, description: 'The delivery that this one reverts' },
  reverted: { ...boolean, description: 'A rewind has reverted its event' },
  attempts: integer,
  attemptedAt: nullableTime,
  nextAttemptAt: nullableTime,
  status: { ...nullableInteger, description: 'HTTP status of the last answer' },
  error: { ...nullableString, description: 'Why the last attempt failed' },
  latencyMs: {
    ...nullableInteger,
    description: 'Duration of the last attempt until its answer or failure, milliseconds',
  },
  createdAt: isoTime,
};
export const delivery = object(deliveryMembers);
export const wholeDelivery = object({
  ...deliveryMembers,
  body: { ...string, description: 'The message as it is sent, exactly' },
  answer: {
    ...nullableString,
    description: "The first 2 kB of the receiver's last answer, untrusted text; null when it did not answer",
  },
  answerCut: { ...boolean, description: 'Whether the answer was longer' },
});
export const redriven = object({
  redriven: integer,
  more: { ...boolean, description: 'Whether more failed deliveries may be left: one request redrives at most 1,000' },
});
export const deliveryList = object({
  results: array(delivery, 'Newest first'),
  nextBefore: {
    ...nullableString,
    description: 'Pass it as `before` to continue after the last delivery; null at the end',
  },
});
