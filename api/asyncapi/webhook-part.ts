/** Webhooks in the AsyncAPI document. */
import { webhookMessages } from '../webhooks/message-schema.ts';
import type { AsyncMessage, AsyncPart } from './document.ts';

const DESCRIPTION = `A POST to the URL of a webhook, at least once, repeated until it is answered with 2xx within 15 s. Signed by Standard Webhooks 1.0:
headers webhook-id (the same in every attempt), webhook-timestamp, webhook-signature. Registered at /api/webhooks; docs/webhooks.md.`;

/** Prefixed, because the stream has messages of the same types. */
const named = Object.fromEntries(
  Object.entries(webhookMessages).map(([type, { summary, message }]): [string, AsyncMessage] => [
    `webhook.${type}`,
    { summary, payload: message },
  ]),
);
const messages = Object.keys(named);

export const webhookPart: AsyncPart = {
  channels: { webhooks: { address: null, description: DESCRIPTION, servers: ['receiver'], messages } },
  operations: {
    deliver: {
      action: 'send',
      channel: 'webhooks',
      summary: 'What happens on the chains, with the registered kinds and filters',
      messages,
      bindings: { http: { method: 'POST', bindingVersion: '0.3.0' } },
    },
  },
  messages: named,
};
