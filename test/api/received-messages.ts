/** Messages that a receiver of webhooks was sent. */
import { Ajv } from 'ajv';
import { expect } from 'vitest';
import { webhookMessages } from '../../api/webhooks/message-schema.ts';
import { type Receiver, verified } from '../support/api/webhooks/receiver.ts';
import type { LooseJson } from './truth.ts';

const ajv = new Ajv({ strict: false });
const validators = new Map(Object.entries(webhookMessages).map(([type, { message }]) => [type, ajv.compile(message)]));

/** Returns the messages in order of arrival; checks the signature of each, and its schema in AsyncAPI. */
export const receivedMessages = (at: Receiver, secret: string): LooseJson[] =>
  at.received.map((one) => {
    const message = verified<LooseJson>(one, secret);
    const validate = validators.get(message.type);
    expect([message.type, validate?.(message), validate?.errors]).toEqual([message.type, true, null]);
    return { id: one.id, ...message };
  });
