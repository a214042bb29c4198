/** The push stream in the AsyncAPI document: WebSocket and server-sent events, from the schemas that the code uses. */

import type { Parameters } from '../http/parameters.ts';
import { pingMessage, subscribeMessage, unsubscribeMessage } from '../push/client-message-schema.ts';
import { pushEvents, pushNotices } from '../push/message-schema.ts';
import { CHANNELS } from '../push/push-event.ts';
import { streamParameters } from '../push/register-stream.ts';
import type { AsyncMessage, AsyncPart } from './document.ts';

const EVENTS = Object.keys(pushEvents);
/** Messages that the service sends by itself, on both channels. */
const UNASKED = [...EVENTS, 'hello', 'heartbeat', 'resync', 'snapshot'];
const REQUESTS = ['subscribe', 'unsubscribe', 'ping'] as const;

const WEBSOCKET = `First the greeting, then blocks and undos of all chains, or the channels that are subscribed within 250 ms.
Closed with 4408 and the last cursor as the reason when the client reads too slowly, with 4429 beyond the limits: 100 messages in
10 s, 50 subscriptions, 1,000 entries of filters, 16 kB a message. A connection costs 1 credit; refused, it gets the answer of REST,
or opens, gets an error message and is closed with 4000 and that status.`;
const SSE =
  'The same messages as server-sent events; the id of each is its cursor, so that EventSource resumes by itself.';

const querySchema = (parameters: Parameters) => ({
  type: 'object',
  properties: Object.fromEntries(
    // The stream has no parameter with the schema `chain`, which is a placeholder for configured names.
    Object.entries(parameters).map(([name, { schema, description }]) => [name, { ...(schema as object), description }]),
  ),
});

const sent = Object.fromEntries(
  Object.entries({ ...pushEvents, ...pushNotices }).map(([type, { summary, message }]): [string, AsyncMessage] => [
    type,
    { summary, payload: message },
  ]),
);

export const streamPart: AsyncPart = {
  channels: {
    websocket: {
      address: '/api/ws',
      description: WEBSOCKET,
      servers: ['websocket'],
      messages: [...Object.keys(sent), ...REQUESTS],
      bindings: { ws: { method: 'GET', query: querySchema({ cursor: streamParameters.cursor }) } },
    },
    events: { address: '/api/stream', description: SSE, servers: ['http'], messages: UNASKED },
  },
  operations: {
    tell: {
      action: 'send',
      channel: 'websocket',
      summary: 'What happens on the chains',
      messages: UNASKED,
    },
    takeSubscription: {
      action: 'receive',
      channel: 'websocket',
      summary: `Subscribes to channels out of ${CHANNELS.join(', ')} instead of the blocks; with a cursor, continues from there`,
      messages: ['subscribe'],
      replies: ['ack', 'error'],
    },
    endSubscription: {
      action: 'receive',
      channel: 'websocket',
      summary: 'Ends the subscription of this id',
      messages: ['unsubscribe'],
      replies: ['ack', 'error'],
    },
    answerPing: {
      action: 'receive',
      channel: 'websocket',
      summary: 'Asks whether the connection works',
      messages: ['ping'],
      replies: ['pong', 'error'],
    },
    stream: {
      action: 'send',
      channel: 'events',
      summary: 'What happens on the chains, in the channels and with the filters of the query',
      messages: UNASKED,
      bindings: { http: { method: 'GET', query: querySchema(streamParameters), bindingVersion: '0.3.0' } },
    },
  },
  messages: {
    ...sent,
    subscribe: { summary: 'Replaces the default subscription, or the one of the same id', payload: subscribeMessage },
    unsubscribe: { summary: 'Ends a subscription', payload: unsubscribeMessage },
    ping: { summary: 'Answered by a pong', payload: pingMessage },
  },
};
