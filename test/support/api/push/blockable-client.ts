/** A client of a hub whose socket is full whenever a test wants it. */
import { expect } from 'vitest';
import { createConnection } from '../../../../api/push/connection.ts';
import type { PushConnectionOptions } from '../../../../api/push/connection-options.ts';
import type { Hub } from '../../../../api/push/hub.ts';
import { createNetworkShares } from '../../../../api/push/network-share.ts';
import type { PushConnection } from '../../../../api/push/push-connection.ts';

export interface BlockableClient<Message> {
  readonly sent: Message[];
  readonly connection: PushConnection;
  drain(): void;
}

interface BlockableOptions<Message> {
  readonly hub: Hub;
  readonly first: PushConnectionOptions['first'];
  /** Further subscriptions. They begin together with the first: the socket is full until the last one is acknowledged. */
  readonly others: readonly object[];
  /** Whether the socket takes another message after this one. */
  readonly accepts: () => boolean;
  readonly onEnd?: (sent: Message[]) => void;
}

export function connectBlockable<Message extends { readonly type: string }>({
  hub,
  first,
  others,
  accepts,
  onEnd,
}: BlockableOptions<Message>): BlockableClient<Message> {
  const sent: Message[] = [];
  let blocked = false;
  const isSubscribed = () => sent.filter(({ type }) => type === 'ack').length === others.length;
  const connection = createConnection({
    hub,
    share: createNetworkShares().open('test'),
    first,
    graceMs: 5,
    heartbeatMs: 15_000,
    slowMs: 10_000,
    transport: {
      send(json, type) {
        expect(blocked && type !== 'ack', 'nothing is sent into a full socket').toBe(false);
        sent.push(JSON.parse(Buffer.from(json).toString()));
        blocked = !isSubscribed() || (type !== 'ack' && !accepts());
        return !blocked;
      },
      together(send) {
        send();
        return !blocked;
      },
      buffered: () => 0,
      end: () => onEnd?.(sent),
    },
  });
  hub.add(connection);
  for (const subscription of others)
    connection.receive(Buffer.from(JSON.stringify({ op: 'subscribe', ...subscription })));
  const drain = () => {
    if (!isSubscribed()) return;
    blocked = false;
    connection.drained();
  };
  return { sent, connection, drain };
}
