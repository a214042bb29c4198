/** AsyncAPI 3.0 document of everything that the service sends by itself, with one part for the stream and one for webhooks. */
import type { JsonSchema } from '../schema/json-schema.ts';

export interface AsyncMessage {
  readonly summary: string;
  readonly payload: JsonSchema;
}

interface Reference {
  readonly $ref: string;
}

export interface AsyncChannel {
  /** Path; null when the receiver's URL determines it. */
  readonly address: string | null;
  readonly description: string;
  /** Names of servers of the document; all servers by default. */
  readonly servers?: readonly string[];
  /** Names of messages in the same part. */
  readonly messages: readonly string[];
  readonly bindings?: object;
}

export interface AsyncOperation {
  /** From the service's side. */
  readonly action: 'send' | 'receive';
  readonly channel: string;
  readonly summary: string;
  readonly messages: readonly string[];
  /** Names of the messages that answer on the same channel. */
  readonly replies?: readonly string[];
  readonly bindings?: object;
}

/** Names must be unique over all parts. */
export interface AsyncPart {
  readonly channels: Readonly<Record<string, AsyncChannel>>;
  readonly operations: Readonly<Record<string, AsyncOperation>>;
  readonly messages: Readonly<Record<string, AsyncMessage>>;
}

export interface AsyncDocumentOptions {
  readonly parts: readonly AsyncPart[];
  readonly version: string;
}

const DESCRIPTION = `Blocks, transactions, conversions, reserves and identities of Verus chains as they arrive, and reorganisations.
Every message carries a cursor: a client that returns with it, to any server of the service, gets every later message, once and in order.
How to use it: docs/streams.md of the project. /api/openapi.json describes the REST interface.`;

const host = { default: '127.0.0.1:8080', description: 'Address of the service' };
const server = (protocol: string, description: string) => ({
  host: '{host}',
  protocol,
  description,
  variables: { host },
});

const SERVERS = {
  websocket: server('ws', 'wss behind a TLS proxy'),
  http: server('http', 'https behind a TLS proxy'),
  receiver: {
    host: '{receiver}',
    protocol: 'https',
    description: 'The URL of a webhook',
    variables: { receiver: { default: 'receiver.example', description: 'Host that was registered' } },
  },
} as const;

const in_ = (place: string, name: string): Reference => ({ $ref: `#/${place}/${name}` });
const byName = <T, R>(entries: Readonly<Record<string, T>>, of: (entry: T, name: string) => R): Record<string, R> =>
  Object.fromEntries(Object.entries(entries).map(([name, entry]) => [name, of(entry, name)]));

export function asyncApiDocument({ parts, version }: AsyncDocumentOptions) {
  const all = <K extends keyof AsyncPart>(kind: K): AsyncPart[K] =>
    Object.assign({}, ...parts.map((part) => part[kind]));
  const messagesIn = (channel: string, names: readonly string[]) =>
    names.map((name) => in_(`channels/${channel}/messages`, name));
  return {
    asyncapi: '3.0.0',
    info: { title: 'verustream', version, description: DESCRIPTION, license: { name: 'MIT' } },
    defaultContentType: 'application/json',
    servers: SERVERS,
    channels: byName(all('channels'), ({ servers, messages, ...channel }) => ({
      ...channel,
      ...(servers && { servers: servers.map((name) => in_('servers', name)) }),
      messages: Object.fromEntries(messages.map((name) => [name, in_('components/messages', name)])),
    })),
    operations: byName(all('operations'), ({ channel, messages, replies, ...operation }) => ({
      ...operation,
      channel: in_('channels', channel),
      messages: messagesIn(channel, messages),
      ...(replies && { reply: { channel: in_('channels', channel), messages: messagesIn(channel, replies) } }),
    })),
    components: { messages: byName(all('messages'), (message, name) => ({ name, ...message })) },
  };
}
